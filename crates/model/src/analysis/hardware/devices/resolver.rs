//! Chooses each figure of a GPU: recorded, otherwise from its product, otherwise from its architecture.

use crate::analysis::hardware::devices::catalog::{Catalog, Figure, Listed, MatchedBy};
use crate::analysis::hardware::devices::constants::{Constant, Constants};
use crate::schema::facts::AgentFacts;

const RECORDED: &str = "agent record";
const COMPUTED: &str = "computed";
const UNKNOWN: &str = "unknown";

/// The part of a GPU that an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    Whole,
    /// Some of its XCDs.
    Part {
        /// XCDs of the agent.
        xccs: i64,
        /// XCDs of the GPU.
        of: i64,
    },
    /// Assumed to be all of it, as no record contradicts it.
    Assumed,
    /// It cannot be determined.
    Unknown,
}

impl Share {
    fn new(agent: &AgentFacts, product: Option<&Listed>, whole: Option<&[i64]>) -> Self {
        if whole == Some(&[1]) {
            return Self::Whole;
        }
        let listed = |name| product.and_then(|product| product.get(name)).map(|figure| figure.value as i64);
        let cu_count = agent.cu_count.filter(is_recorded);
        match (agent.num_xcc.filter(is_recorded), listed("num_xcd")) {
            (Some(xccs), Some(of)) if xccs < of => Self::Part { xccs, of },
            (Some(_), Some(_)) => Self::Whole,
            (Some(xccs), None) if whole.is_some_and(|whole| whole.contains(&xccs)) => Self::Whole,
            (None, Some(_)) if cu_count.is_none() => Self::Assumed,
            (None, Some(of)) => match cu_count.zip(listed("num_cu")) {
                Some((own, all)) if own >= all => Self::Whole,
                Some((own, all)) if own.saturating_mul(of).checked_rem(all) == Some(0) => {
                    Self::Part { xccs: own.saturating_mul(of) / all, of }
                }
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }

    /// The factor for figures that the XCDs of a GPU share evenly.
    fn factor(self) -> Option<f64> {
        match self {
            Self::Whole | Self::Assumed => Some(1.0),
            Self::Part { xccs, of } => Some(xccs as f64 / of as f64),
            Self::Unknown => None,
        }
    }

    /// Whether figures of the whole GPU also hold for the agent.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::Assumed)
    }

    /// The share in words, if it is not the whole.
    fn words(self) -> String {
        match self {
            Self::Part { xccs, of } => format!("this agent is {xccs} of {of} XCDs"),
            Self::Assumed => "taken for the whole GPU, as no partition is recorded".to_owned(),
            _ => "how much of the GPU this agent is, is not recorded".to_owned(),
        }
    }
}

/// Whether a number was recorded: unknown ones may be 0.
fn is_recorded(value: &i64) -> bool {
    *value > 0
}

/// A candidate for a figure.
pub struct Draft {
    value: f64,
    source: String,
    reference: String,
    weak: bool,
}

impl Draft {
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The same figure in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, ..self }
    }

    /// The same figure with another value, and how that was computed.
    fn changed(self, value: f64, how: &str) -> Self {
        Self { value, reference: format!("{}; {how}", self.reference), ..self }
    }
}

/// The figures of an agent that are chosen so far.
pub struct Resolver<'a> {
    pub agent: &'a AgentFacts,
    /// The part of the GPU that it is.
    pub share: Share,
    architecture: Option<&'static Listed>,
    product: Option<(&'static Listed, MatchedBy)>,
    constants: Constants,
}

impl<'a> Resolver<'a> {
    /// Looks up the agent.
    pub fn new(agent: &'a AgentFacts) -> Self {
        let catalog = Catalog::builtin();
        let architecture = catalog.architecture(&agent.name);
        let product = catalog.product(agent);
        let share = Share::new(agent, product.map(|(listed, _)| listed), architecture.map(|(_, whole)| whole));
        let architecture = architecture.map(|(listed, _)| listed);
        Self { agent, share, architecture, product, constants: Constants::new() }
    }

    /// A value recorded in a column of `agents`.
    pub fn recorded(&self, value: Option<i64>, column: &str) -> Option<Draft> {
        self.of_record(value.filter(is_recorded).map(|value| value as f64), column)
    }

    /// A figure computed from recorded ones only.
    pub(crate) fn of_record(&self, value: Option<f64>, how: &str) -> Option<Draft> {
        Some(Draft { value: value?, source: RECORDED.to_owned(), reference: format!("agents: {how}"), weak: false })
    }

    /// A figure of the product that holds for every part of it.
    pub fn product(&self, name: &str) -> Option<Draft> {
        let (listed, found) = self.product?;
        let source = match found {
            MatchedBy::PciId(id) => format!("pci id {id:#06x}"),
            MatchedBy::Name => format!("product {}", listed.name),
        };
        Some(draft(listed.get(name)?, source))
    }

    /// A figure of the product that its XCDs share evenly.
    pub(crate) fn product_share(&self, name: &str) -> Option<Draft> {
        let (draft, factor) = (self.product(name)?, self.share.factor()?);
        let value = draft.value * factor;
        let draft = if self.share == Share::Whole { draft } else { draft.changed(value, &self.share.words()) };
        Some(self.assumed(draft))
    }

    /// A figure of the product that holds only for a whole GPU.
    pub(crate) fn product_whole(&self, name: &str) -> Option<Draft> {
        self.product(name).filter(|_| self.share.is_whole()).map(|draft| self.assumed(draft))
    }

    /// Marks a figure as weak if the agent is assumed to be the whole GPU.
    fn assumed(&self, draft: Draft) -> Draft {
        Draft { weak: draft.weak || self.share == Share::Assumed, ..draft }
    }

    /// A figure of the architecture.
    pub fn architecture(&self, name: &str) -> Option<Draft> {
        let listed = self.architecture?;
        Some(draft(listed.get(name)?, format!("architecture {}", listed.name)))
    }

    /// A figure of the architecture for one XCD, times the number of XCDs.
    pub(crate) fn architecture_per_xcd(&self, name: &str) -> Option<Draft> {
        let (draft, xcds) = (self.architecture(name)?, self.value("num_xcd")?);
        let value = draft.value * xcds;
        Some(if xcds == 1.0 { draft } else { draft.changed(value, &format!("for each of {xcds} XCDs")) })
    }

    /// The names of the figures in a group of the product.
    pub(crate) fn product_group(&self, group: &str) -> Vec<String> {
        self.product.map_or_else(Vec::new, |(listed, _)| listed.group(group).map(|(name, _)| name.to_owned()).collect())
    }

    /// The names of the figures in a group of the architecture.
    pub(crate) fn architecture_group(&self, group: &str) -> Vec<String> {
        self.architecture.map_or_else(Vec::new, |listed| listed.group(group).map(|(name, _)| name.to_owned()).collect())
    }

    /// The value of `formula` for figures that are already chosen, in the order of `parts`; `words` describes it for
    /// readers. A figure of the architecture may come last.
    pub fn computed(
        &self,
        parts: &[&str],
        of_architecture: Option<&str>,
        words: &str,
        formula: impl Fn(&[f64]) -> f64,
    ) -> Option<Draft> {
        let mut values = Vec::new();
        let mut reference = words.to_owned();
        let mut weak = false;
        for part in parts {
            let known = self.constants.get(*part)?;
            values.push(known.value?);
            weak |= known.weak;
            reference.push_str(&format!("; {part}: {}", known.source));
        }
        if let Some(name) = of_architecture {
            let figure = self.architecture(name)?;
            values.push(figure.value);
            weak |= figure.weak;
            reference.push_str(&format!("; {name} {}: {}", figure.value, figure.reference));
        }
        let value = formula(&values);
        Some(Draft { value, source: COMPUTED.to_owned(), reference, weak })
    }

    /// Takes the first available candidate; otherwise records the figure as unknown.
    pub fn choose<const N: usize>(&mut self, name: &str, unit: &'static str, candidates: [Option<Draft>; N]) {
        let chosen = candidates.into_iter().flatten().next();
        let constant = match chosen {
            Some(Draft { value, source, reference, weak }) => {
                Constant { value: Some(value), unit, source, reference, weak }
            }
            None => self.missing(unit),
        };
        self.constants.insert(name.to_owned(), constant);
    }

    fn missing(&self, unit: &'static str) -> Constant {
        let reference = match (self.product, self.architecture) {
            (Some(_), _) if self.share != Share::Whole => self.share.words(),
            (Some(_), _) => "neither recorded nor listed for this product".to_owned(),
            (None, Some(_)) => "not recorded, and the product is not known".to_owned(),
            (None, None) => "not recorded, and neither product nor architecture is listed".to_owned(),
        };
        Constant { value: None, unit, source: UNKNOWN.to_owned(), reference, weak: false }
    }

    /// A chosen figure.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.constants.get(name)?.value
    }

    /// All chosen figures.
    pub(crate) fn into_constants(self) -> Constants {
        self.constants
    }
}

fn draft(figure: Figure, source: String) -> Draft {
    Draft { value: figure.value, source, reference: figure.reference.to_owned(), weak: figure.weak }
}
