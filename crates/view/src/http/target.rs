//! Path and parameters of a request.

use super::status::Status;

/// Maximum length of a target.
const MAX_BYTES: usize = 32 << 10;
/// Maximum number of parameters.
const MAX_PARAMETERS: usize = 64;

/// The path of a request, and its parameters in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The path, which starts with `/`.
    pub path: String,
    /// Names and values.
    pub parameters: Vec<(String, String)>,
}

impl Target {
    /// Reads the target of a request line.
    ///
    /// # Errors
    /// When it is too long, not a path of this server, wrongly encoded, or repeats a parameter.
    pub fn parse(text: &str) -> Result<Self, Status> {
        if text.len() > MAX_BYTES {
            return Err(Status::URI_TOO_LONG);
        }
        if !text.starts_with('/') || text.contains('#') {
            return Err(Status::BAD_REQUEST);
        }
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let path = decoded(path, false)?;
        let mut parameters: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name, true)?, decoded(value, true)?);
            if parameters.len() >= MAX_PARAMETERS || parameters.iter().any(|(known, _)| *known == name) {
                return Err(Status::BAD_REQUEST);
            }
            parameters.push((name, value));
        }
        Ok(Self { path, parameters })
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Text without percent encoding. Control characters are refused: no value needs them.
fn decoded(text: &str, is_query: bool) -> Result<String, Status> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = (digit(rest.next()), digit(rest.next()));
                let value = high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                value.ok_or(Status::BAD_REQUEST)?
            }
            b'+' if is_query => b' ',
            byte => byte,
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| Status::BAD_REQUEST)?;
    let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\t' | '\r');
    if text.chars().any(is_control) || (!is_query && text.chars().any(char::is_control)) {
        return Err(Status::BAD_REQUEST);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_decoded() {
        let target = Target::parse("/api/query?name=busy&by=rank%2Cgpu&text=a+b%20c&empty").unwrap();
        assert_eq!(target.path, "/api/query");
        assert_eq!(target.get("by"), Some("rank,gpu"));
        assert_eq!(target.get("text"), Some("a b c"));
        assert_eq!(target.get("empty"), Some(""));
        assert_eq!(target.get("none"), None);
    }

    #[test]
    fn wrong_targets_are_refused() {
        for text in ["", "api", "http://a/", "*", "/%", "/%4", "/%zz", "/%ff", "/?a=%00", "/a?b=1&b=2", "/a#b", "/%0a"]
        {
            assert_eq!(Target::parse(text), Err(Status::BAD_REQUEST), "{text}");
        }
        assert_eq!(Target::parse(&format!("/{}", "a".repeat(MAX_BYTES))), Err(Status::URI_TOO_LONG));
        let many: Vec<String> = (0..=MAX_PARAMETERS).map(|number| format!("p{number}=1")).collect();
        assert_eq!(Target::parse(&format!("/?{}", many.join("&"))), Err(Status::BAD_REQUEST));
    }
}
