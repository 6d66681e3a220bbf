//! Parsed formulas.

use std::collections::BTreeSet;
use std::fmt;

/// A number that a formula stands for, for one dispatch.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A literal, or a device constant whose value is known.
    Number(f64),
    /// A device constant by name.
    Constant(String),
    /// A fact about a dispatch that needs no counters, by name.
    Dispatch(String),
    /// The value by which others are normalized.
    Denominator,
    /// A counter of the dispatch.
    Counter(Counter),
    /// Two parts and an operator.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// A function of its arguments.
    Call(Function, Vec<Expression>),
    /// The first value if the comparison holds, otherwise the second.
    Choice(Box<Choice>),
}

/// A comparison and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Left side.
    pub left: Expression,
    /// How the sides compare.
    pub comparison: Comparison,
    /// Right side.
    pub right: Expression,
    /// Value if it holds.
    pub then: Expression,
    /// Value if it does not hold.
    pub otherwise: Expression,
}

/// How the values of hardware instances of a counter are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reduction {
    /// Their sum, which is the value of a counter without a reduction.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    Mean,
}

/// A counter and how its instances make one value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counter {
    /// Hardware name.
    pub name: String,
    /// How its instances are combined.
    pub reduction: Reduction,
}

impl fmt::Display for Counter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reduction {
            Reduction::Sum => formatter.write_str(&self.name),
            Reduction::Max => write!(formatter, "max_inst({})", self.name),
            Reduction::Min => write!(formatter, "min_inst({})", self.name),
            Reduction::Mean => write!(formatter, "avg_inst({})", self.name),
        }
    }
}

/// Arithmetic of two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, without a value if the divisor is 0.
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The smaller of two.
    Min,
    /// The larger of two.
    Max,
    /// The nearest whole number, halves to the even one.
    Round,
    /// The largest whole number that is not greater.
    Floor,
    /// Remainder of a division, with the sign of the divisor.
    Remainder,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    /// Not equal.
    Different,
    Less,
    /// Less or equal.
    AtMost,
    Greater,
    /// Greater or equal.
    AtLeast,
}

impl Comparison {
    /// Whether it holds.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Different => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

impl Function {
    /// Its value; `None` if undefined.
    pub fn apply(self, arguments: &[f64]) -> Option<f64> {
        let (first, second) = (arguments.first().copied()?, arguments.get(1).copied());
        match self {
            Self::Min => Some(first.min(second?)),
            Self::Max => Some(first.max(second?)),
            Self::Round => Some(first.round_ties_even()),
            Self::Floor => Some(first.floor()),
            Self::Remainder => {
                second.filter(|second| *second != 0.0).map(|second| first - (first / second).floor() * second)
            }
        }
    }

    /// How many arguments it takes.
    pub fn arguments(self) -> usize {
        match self {
            Self::Min | Self::Max | Self::Remainder => 2,
            Self::Round | Self::Floor => 1,
        }
    }
}

impl Expression {
    /// Two parts and an operator. Numbers are computed at once, and parts that change nothing are dropped.
    #[must_use]
    pub fn binary(operator: Operator, left: Self, right: Self) -> Self {
        match (operator, &left, &right) {
            (Operator::Add, Self::Number(a), Self::Number(b)) => Self::Number(a + b),
            (Operator::Subtract, Self::Number(a), Self::Number(b)) => Self::Number(a - b),
            (Operator::Multiply, Self::Number(a), Self::Number(b)) => Self::Number(a * b),
            (Operator::Divide, Self::Number(a), Self::Number(b)) if *b != 0.0 => Self::Number(a / b),
            (Operator::Multiply, _, Self::Number(1.0)) | (Operator::Divide, _, Self::Number(1.0)) => left,
            (Operator::Multiply, Self::Number(1.0), _) => right,
            // Numbers come together: (2 * x) * 3 and 3 * (2 * x) are 6 * x.
            (Operator::Multiply, _, Self::Number(_)) => Self::binary(operator, right, left),
            (Operator::Multiply, Self::Number(a), Self::Binary(Operator::Multiply, first, rest)) => match **first {
                Self::Number(b) => Self::Binary(operator, Box::new(Self::Number(a * b)), rest.clone()),
                _ => Self::Binary(operator, Box::new(left), Box::new(right)),
            },
            _ => Self::Binary(operator, Box::new(left), Box::new(right)),
        }
    }

    /// The parts, changed by `change` from the innermost out.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn rebuilt<E>(self, change: &mut impl FnMut(Self) -> Result<Self, E>) -> Result<Self, E> {
        let whole = match self {
            Self::Binary(operator, left, right) => {
                Self::binary(operator, left.rebuilt(change)?, right.rebuilt(change)?)
            }
            Self::Call(function, arguments) => {
                let arguments: Vec<Self> =
                    arguments.into_iter().map(|argument| argument.rebuilt(change)).collect::<Result<_, E>>()?;
                Self::Call(function, arguments)
            }
            Self::Choice(choice) => Self::Choice(Box::new(Choice {
                left: choice.left.rebuilt(change)?,
                comparison: choice.comparison,
                right: choice.right.rebuilt(change)?,
                then: choice.then.rebuilt(change)?,
                otherwise: choice.otherwise.rebuilt(change)?,
            })),
            leaf => leaf,
        };
        change(whole)
    }

    /// Calls `see` for every part.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        match self {
            Self::Binary(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.visit(see)),
            Self::Choice(choice) => {
                let Choice { left, right, then, otherwise, .. } = &**choice;
                [left, right, then, otherwise].into_iter().for_each(|part| part.visit(see));
            }
            _ => {}
        }
    }

    /// The counters it depends on.
    pub fn counters(&self) -> BTreeSet<&Counter> {
        let mut counters = BTreeSet::new();
        self.visit(&mut |part| {
            if let Self::Counter(counter) = part {
                counters.insert(counter);
            }
        });
        counters
    }

    /// Its value if it depends only on numbers.
    pub fn value(&self) -> Option<f64> {
        let value = match self {
            Self::Number(value) => Some(*value),
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value()?, right.value()?);
                match operator {
                    Operator::Add => Some(left + right),
                    Operator::Subtract => Some(left - right),
                    Operator::Multiply => Some(left * right),
                    Operator::Divide => (right != 0.0).then(|| left / right),
                }
            }
            Self::Call(function, arguments) => {
                let arguments: Option<Vec<f64>> = arguments.iter().map(Self::value).collect();
                function.apply(&arguments?)
            }
            Self::Choice(choice) => {
                let holds = choice.comparison.holds(choice.left.value()?, choice.right.value()?);
                if holds { choice.then.value() } else { choice.otherwise.value() }
            }
            Self::Constant(_) | Self::Dispatch(_) | Self::Denominator | Self::Counter(_) => None,
        };
        value.filter(|value| value.is_finite())
    }
}
