//! Texts of arguments: a list `name=value | name=value`, a JSON object, or anything.

use serde_json::Value;

/// Name of arguments that are not a list.
const WHOLE: &str = "args";

/// Names and values.
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
