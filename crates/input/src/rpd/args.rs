//! `args` from the texts of arguments.

use anyhow::Result;
use serde_json::Value;

use super::calls::Words;
use super::reading::Reading;
use crate::common::sqlite::{Condition, integer, text};
use crate::common::{Args, Dictionary, Texts};

/// Texts that are shared by the file, or read separately.
pub(crate) enum TextLookup<'a> {
    Shared(&'a Texts),
    Own(Texts),
}

impl TextLookup<'_> {
    pub fn get(&self) -> &Texts {
        match self {
            Self::Shared(texts) => texts,
            Self::Own(texts) => texts,
        }
    }
}

/// Texts of arguments and markers. If they have their own table, only the texts that meet the condition.
pub fn texts_of<'a>(reading: &mut Reading<'a>, condition: &Condition) -> Result<TextLookup<'a>> {
    if reading.capture.container.args_table() == "string" {
        return Ok(TextLookup::Shared(reading.strings()?));
    }
    let columns = reading.read("ustring", &[text("string")], condition)?;
    Ok(TextLookup::Own(Texts::new(&columns.integers("id"), &columns.texts("string"))))
}

/// Assembles the arguments of all calls but markers, whose text is their message.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let wanted = [integer("args_id"), integer("apiName_id"), integer("domain_id")];
    let calls = reading.read_own(&wanted, Condition::all())?;
    let texts = texts_of(reading, &Condition::all())?;
    let mut words = Words::new(reading)?;
    let (ids, args) = (calls.integers("id"), calls.integers("args_id"));
    let (names, domains) = (calls.integers("apiName_id"), calls.integers("domain_id"));
    let mut args_of_calls = Args::default();
    let (mut arg_names, mut values) = (Vec::new(), Vec::new());
    for ((id, args), (name, domain)) in ids.iter().zip(args.iter()).zip(names.iter().zip(domains.iter())) {
        let text = texts.get().get(args).filter(|text| !text.is_empty());
        if let Some(text) = text.filter(|_| !words.is_marker(name, domain)) {
            for (position, (name, value)) in (0..).zip(parse(text)) {
                args_of_calls.kinds.push(0);
                args_of_calls.owners.push(id.unwrap_or(-1));
                args_of_calls.positions.push(position);
                arg_names.push(Some(name));
                values.push(Some(value));
            }
        }
    }
    reading.put_args(&["region"], args_of_calls, || Dictionary::of_rows(arg_names), || Dictionary::of_rows(values))
}

/// Name of arguments that are not a list.
const WHOLE: &str = "args";

/// Names and values of a text: a list `name=value | name=value`, a JSON object, or any text.
pub fn parse(text: &str) -> Vec<(String, String)> {
    if text.starts_with('{')
        && let Ok(Value::Object(object)) = serde_json::from_str(text)
    {
        let value = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        return object.into_iter().map(|(name, own)| (name, value(own))).collect();
    }
    let pairs: Option<Vec<(String, String)>> = text
        .split(" | ")
        .map(|pair| pair.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())))
        .collect();
    pairs.unwrap_or_else(|| vec![(WHOLE.to_owned(), text.to_owned())])
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lists_objects_and_anything() {
        let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(
            parse("graphExec = 0xc3b9a20 | stream = 0x0"),
            owned(&[("graphExec", "0xc3b9a20"), ("stream", "0x0")])
        );
        assert_eq!(parse("count=1207"), owned(&[("count", "1207")]));
        assert_eq!(parse(r#"{"size":"12","n":3}"#), owned(&[("n", "3"), ("size", "12")]));
        assert_eq!(parse("step 4"), owned(&[("args", "step 4")]));
        assert_eq!(parse("{broken"), owned(&[("args", "{broken")]));
    }
}
