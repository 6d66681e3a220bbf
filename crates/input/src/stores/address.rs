//! Addresses of datasets: `s3://`, `gs://`, `az://`, `http://` and `https://`.

use std::fmt;

use thiserror::Error;
use url::Url;

/// Names of schemes, each with its service.
const SCHEMES: [(&str, Scheme); 8] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("abfs", Scheme::Azure),
    ("abfss", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Http),
];

/// The service behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Amazon S3, and stores that serve its protocol.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// A web server.
    Http,
}

/// The address of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    scheme: Scheme,
    url: Url,
}

/// Reasons why a text with `://` is not the address of a dataset. No message repeats possible secrets.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    /// A file.
    #[error("{0}: files have no scheme; name the path without file://")]
    File(String),
    /// Another protocol.
    #[error(
        "{0}://: datasets are not read from there; use s3://, gs://, az://, http:// or https://, or copy the dataset"
    )]
    Scheme(String),
    /// A user or a password.
    #[error("{0}: do not put credentials into the address; set them in the environment, such as AWS_ACCESS_KEY_ID")]
    Credentials(String),
    /// Text after the path.
    #[error("{0}: an address of a dataset ends with its path; leave out what begins with ? or #")]
    BehindPath(String),
    /// Not the form of an address.
    #[error("{0}: invalid address; expected s3://BUCKET/PATH (or gs, az, http, https)")]
    Form(String),
}

impl Address {
    /// Whether a text is meant as an address: it begins with a scheme and `://`.
    pub fn is_meant(text: &str) -> bool {
        let is_of_scheme = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
        text.split_once("://").is_some_and(|(scheme, _)| {
            scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()) && scheme.chars().all(is_of_scheme)
        })
    }

    /// The address in a text; `None` if it is meant as a path.
    ///
    /// # Errors
    /// When it is meant as an address but does not name a dataset.
    pub fn parse(text: &str) -> Result<Option<Self>, AddressError> {
        let Some((name, rest)) = text.split_once("://").filter(|_| Self::is_meant(text)) else { return Ok(None) };
        let name = name.to_ascii_lowercase();
        if name == "file" {
            return Err(AddressError::File(text.to_owned()));
        }
        let Some((_, scheme)) = SCHEMES.iter().find(|(known, _)| *known == name) else {
            return Err(AddressError::Scheme(name));
        };
        // Only parts that cannot be secret are repeated.
        let safe = || {
            let rest = rest.split(['?', '#']).next().unwrap_or_default();
            format!("{name}://{}", rest.rsplit_once('@').map_or(rest, |(_, behind)| behind))
        };
        let mut url = Url::parse(text).map_err(|_| AddressError::Form(safe()))?;
        // In abfs://CONTAINER@ACCOUNT.dfs.core.windows.net the container is in the place of the user.
        let may_have_user = name.starts_with("abfs") && url.password().is_none();
        if (!url.username().is_empty() && !may_have_user) || url.password().is_some() {
            return Err(AddressError::Credentials(safe()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::BehindPath(safe()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(AddressError::Form(safe()));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Some(Self { scheme: *scheme, url }))
    }

    /// The service behind it.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The URL for requests.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The address in the form that every S3 reader accepts; `None` if it is not in such a store.
    pub fn as_s3(&self) -> Option<String> {
        let bucket = self.url.host_str().filter(|_| self.scheme == Scheme::S3)?;
        Some(format!("s3://{bucket}{}", self.url.path().trim_end_matches('/')))
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.url.path().rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<String>, AddressError> {
        Ok(Address::parse(text)?.map(|address| address.to_string()))
    }

    #[test]
    fn addresses_are_told_from_paths() {
        assert_eq!(parsed("dataset"), Ok(None));
        assert_eq!(parsed("a/b://c"), Ok(None));
        assert_eq!(parsed("s3://bucket/a/b/"), Ok(Some("s3://bucket/a/b".to_owned())));
        assert_eq!(parsed("S3://bucket"), Ok(Some("s3://bucket".to_owned())));
        assert_eq!(parsed("http://127.0.0.1:9/x"), Ok(Some("http://127.0.0.1:9/x".to_owned())));
        assert!(parsed("abfss://box@account.dfs.core.windows.net/x").is_ok_and(|found| found.is_some()));
    }

    #[test]
    fn secrets_are_refused_and_not_repeated() {
        for text in [
            "https://me:secret@host/x",
            "s3://secret@bucket/x",
            "https://host/x?sig=secret",
            "http://me:secret@/x#secret",
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(parsed("ftp://host/x"), Err(AddressError::Scheme("ftp".to_owned())));
        assert_eq!(parsed("file:///x"), Err(AddressError::File("file:///x".to_owned())));
        assert!(matches!(parsed("s3:///x"), Err(AddressError::Form(_))));
    }
}
