//! Common arguments of tools: inputs, filters, and options of queries.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::failure::ToolFailure;
use super::tools::BehindMask;
use crate::filters::FilterArguments;
use wavesieve_engine::{NameForm, Query, QueryOptions, closest};
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::selection::Filters;

/// Parses the arguments of a call into the type of a tool.
pub(super) fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolFailure> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolFailure::usage(format!("invalid arguments: {error}")))
}

/// One text, or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Texts {
    pub(super) fn list(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }

    /// The texts without empty ones, split at commas.
    pub(super) fn words(&self) -> Vec<String> {
        let words = self.list().iter().flat_map(|text| text.split(',')).map(str::trim);
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

/// A value that is a text on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Scalar {
    Text(String),
    Truth(bool),
    Number(serde_json::Number),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Truth(truth) => truth.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// The filters of a call by name.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct FilterTexts(BTreeMap<String, Texts>);

impl FilterTexts {
    /// The filters. A condition applies only to the `subject`, if there is one. Filters that compare texts see masked
    /// texts, unless the user chose them.
    pub(super) fn filters(
        &self,
        subject: Option<&'static Table>,
        behind: Option<&BehindMask>,
    ) -> Result<Filters, ToolFailure> {
        let mask = |name: &str| behind.filter(|behind| !behind.own_filters.contains(name)).map(BehindMask::shared);
        let mut chosen = FilterArguments::default();
        for (name, texts) in &self.0 {
            let text = texts.list().join(",");
            let set = chosen.set(name, &text);
            set.map_err(|error| ToolFailure::usage(format!("invalid {name} `{text}`: {error}")))?;
        }
        let mut filters = chosen.choice(subject).map_err(ToolFailure::usage)?;
        filters.kernel_mask = filters.kernel.as_ref().and_then(|_| mask("kernel"));
        if let Some(mask) = mask("where") {
            filters.condition = filters.condition.map(|condition| condition.behind(mask));
        }
        Ok(filters)
    }
}

/// The form of kernel names.
pub(super) fn name_form(word: Option<&str>) -> Result<NameForm, ToolFailure> {
    let forms = [NameForm::Full, NameForm::Short, NameForm::Base, NameForm::Mangled];
    let Some(word) = word else { return Ok(NameForm::default()) };
    let found = forms.into_iter().find(|form| form.word() == word);
    found.ok_or_else(|| ToolFailure::usage(format!("invalid name `{word}`: choose from full, short, base, mangled")))
}

/// The arguments of a named query.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct QueryArguments {
    pub query: String,
    pub inputs: Texts,
    parameters: BTreeMap<String, Scalar>,
    by: Option<Texts>,
    name: Option<String>,
    columns: Option<Texts>,
    top: Option<usize>,
    pub rows: Option<usize>,
    /// Number of rows with commands, 0 for all.
    pub handoff: Option<usize>,
    pub filters: FilterTexts,
}

impl QueryArguments {
    /// The options for the engine. For a query without the parameter `top`, that argument limits the rows.
    pub(super) fn options(&self, query: &Query) -> Result<QueryOptions, ToolFailure> {
        let known = || query.declaration.parameters.iter().map(|parameter| parameter.name.as_str());
        let mut parameters = BTreeMap::new();
        for (name, value) in &self.parameters {
            let name = name.trim_start_matches('-').replace('-', "_");
            if !known().any(|known| known == name) {
                let hint = closest(&name, known()).map(|name| format!("; did you mean {name}")).unwrap_or_default();
                return Err(ToolFailure::usage(format!("{} has no parameter {name}{hint}", query.name)));
            }
            parameters.insert(name, value.text());
        }
        if let (Some(top), true) = (self.top, known().any(|known| known == "top")) {
            parameters.insert("top".to_owned(), top.to_string());
        }
        let columns = self.columns.as_ref().map(Texts::words).filter(|columns| !columns.is_empty());
        Ok(QueryOptions {
            by: self.by.as_ref().map(Texts::words),
            name: name_form(self.name.as_deref())?,
            columns,
            parameters,
        })
    }

    /// The maximum number of rows to show.
    pub(super) fn row_limit(&self) -> Option<usize> {
        let top = self.top.filter(|top| *top > 0);
        [self.rows, top].into_iter().flatten().min()
    }
}
