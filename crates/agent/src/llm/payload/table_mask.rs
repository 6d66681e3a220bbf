//! Masks tables for SQL of a model: texts become tokens before its statement or condition runs.
//!
//! A text that was sent before keeps the token that the model knows. Any other text gets a token from a hash with a
//! secret key, always of the same length. Its order and its length reveal nothing, and it does not depend on anything
//! that runs at the same time. In a result, these tokens become texts again before the result is masked like all
//! others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::Regex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cells::{is_command, is_public, kind_of};
use super::level::Share;
use super::vocabulary::Vocabulary;
use crate::llm::error::LlmError;
use crate::llm::redaction::{Redactor, Rules, TokenMap, pattern_with, statement_with};
use wavesieve_engine::ColumnUnit;
use wavesieve_tables::trace::selection::TextMask;

/// The kind of hashed tokens for whole texts.
const ANY_TEXT: &str = "TEXT";
/// Number of hash bytes in a token.
const HASHED: usize = 8;

static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[[A-Z]+_x[0-9a-f]{16}\]").ok());

/// The parameters of a mask, as passed to the process that runs the tools.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct MaskOptions {
    pub share: Share,
    /// The user's own redaction rules.
    pub redact: Option<PathBuf>,
    /// Texts that were sent before, with their tokens.
    pub names: TokenMap,
}

/// Replaces texts with tokens.
#[derive(Debug)]
pub(crate) struct TableMask {
    share: Share,
    names: TokenMap,
    key: [u8; 32],
    work: Mutex<Work>,
}

#[derive(Debug)]
struct Work {
    redactor: Redactor,
    /// Redacted forms of texts, by text.
    passed: BTreeMap<String, String>,
    /// Original texts of this mask's tokens, by token.
    made: BTreeMap<String, String>,
}

impl TableMask {
    pub fn new(options: MaskOptions) -> Result<Self, LlmError> {
        let MaskOptions { share, redact, names } = options;
        let redactor = Redactor::new(Rules::new(share, redact.as_deref())?, names.clone());
        // The key comes from the names of the trace, its machines and users: a reader who knows them all learns nothing
        // from the order of tokens.
        let mut key = Sha256::new();
        for text in names.texts() {
            key.update((text.len() as u64).to_le_bytes());
            key.update(text.as_bytes());
        }
        let work = Work { redactor, passed: BTreeMap::new(), made: BTreeMap::new() };
        Ok(Self { share, names, key: key.finalize().into(), work: Mutex::new(work) })
    }

    /// A number that differs between masks with different names.
    pub fn fingerprint(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.key;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The originals of this mask's tokens in a text, by token.
    pub(crate) fn originals_in(&self, text: &str) -> BTreeMap<String, String> {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = TOKEN.iter().flat_map(|token| token.find_iter(text));
        tokens.filter_map(|token| Some((token.as_str().to_owned(), work.made.get(token.as_str())?.clone()))).collect()
    }

    /// The token of a text. `made` records the text if the token may be restored.
    fn token(&self, kind: &str, text: &str, made: Option<&mut BTreeMap<String, String>>) -> String {
        if let Some(token) = self.names.token_of(text) {
            return token.to_owned();
        }
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update(text.as_bytes());
        let mut token = format!("[{kind}_x");
        for byte in hash.finalize().iter().take(HASHED) {
            // Writing to a string cannot fail.
            let _ = write!(token, "{byte:02x}");
        }
        token.push(']');
        if let Some(made) = made {
            made.entry(token.clone()).or_insert_with(|| text.to_owned());
        }
        token
    }

    /// A text without data that is not sent at any level.
    fn redacted(&self, text: &str) -> String {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(passed) = work.passed.get(text) {
            return passed.clone();
        }
        let Work { redactor, passed, made } = &mut *work;
        let safe = redactor.text(&text.replace("\\/", "/"));
        let mut put = String::new();
        let mut end = 0;
        for place in redactor.map().places(&safe) {
            put.push_str(safe.get(end..place.start).unwrap_or_default());
            end = place.end;
            let token = safe.get(place).unwrap_or_default();
            // A secret is never restored: no rule would find it again in a part of its text.
            let restored = Some(&mut *made).filter(|_| redactor.map().is_restored(token));
            // The number of a new token would reveal its predecessors.
            let own = redactor.map().original_of(token).map(|original| self.token(kind(token), original, restored));
            put.push_str(own.as_deref().unwrap_or(token));
        }
        put.push_str(safe.get(end..).unwrap_or_default());
        passed.insert(text.to_owned(), put.clone());
        put
    }
}

impl TextMask for TableMask {
    fn prepare(&self, texts: &mut dyn Iterator<Item = &str>) {
        if self.share != Share::Figures {
            let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            let before = work.redactor.map().names().len();
            texts.for_each(|text| work.redactor.meet(&text.replace("\\/", "/")));
            if work.redactor.map().names().len() > before {
                work.passed.clear();
            }
        }
    }

    fn masked(&self, column: &str, text: &str) -> String {
        let kind = kind_of(column, ColumnUnit::of_name(column).unwrap_or(ColumnUnit::Text));
        let is_hidden =
            self.share == Share::Figures && !is_public(text, kind) || is_command(column) && !text.is_empty();
        if is_hidden {
            let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            // One token for the same text in all columns, so that statements can join them.
            let kind = if is_command(column) { kind } else { ANY_TEXT };
            return self.token(kind, text, Some(&mut work.made));
        }
        if self.share == Share::Figures { text.to_owned() } else { self.redacted(text) }
    }

    fn with_names(&self, sql: &str) -> String {
        statement_with(sql, &self.names, &|_, name| name.to_owned())
    }

    fn pattern_with_names(&self, pattern: &str) -> String {
        pattern_with(pattern, &self.names, &|_, name| name.to_owned())
    }
}

/// The kind of a token: its name without the number.
fn kind(token: &str) -> &str {
    token.trim_start_matches('[').rsplit_once('_').map_or("TEXT", |(kind, _)| kind)
}

/// The first part of a model's comparison text that is neither a token nor public: it would be a guess, and the result
/// would confirm or refute it.
pub(crate) fn strange_part(text: &str, share: Share, redactor: &mut Redactor) -> Option<String> {
    let text = redactor.map().bracketed(text);
    let tokens = redactor.map().places(&text);
    if share != Share::Figures {
        return (redactor.text(&text) != text).then_some(text);
    }
    let mut end = 0;
    let mut rest = Vec::new();
    for place in tokens {
        rest.push(text.get(end..place.start).unwrap_or_default().to_owned());
        end = place.end;
    }
    rest.push(text.get(end..).unwrap_or_default().to_owned());
    let parts = rest.iter().flat_map(|rest| rest.split(['@', ':', '/', ',', '+', '%']));
    let vocabulary = Vocabulary::builtin();
    let is_known = |part: &str| {
        let is_figure =
            part.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-') && vocabulary.has_words(part);
        is_figure || !part.contains(char::is_alphanumeric) || vocabulary.has_text(part)
    };
    parts.map(str::trim).find(|part| !is_known(part)).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(share: Share) -> TableMask {
        let mut names = TokenMap::default();
        names.name("KERNEL", "void zebra::gemm<float>(int)");
        let token = names.name("HOST", "atlas17");
        names.alias_anywhere("atlas17", &token);
        TableMask::new(MaskOptions { share, redact: None, names }).unwrap()
    }

    #[test]
    fn texts_are_tokens_that_show_nothing() {
        let mask = mask(Share::Figures);
        assert_eq!(mask.masked("kernel_name", "void zebra::gemm<float>(int)"), "[KERNEL_1]");
        let texts: Vec<String> = (0..200).map(|place| format!("secret{}", "a".repeat(place))).collect();
        let tokens: Vec<String> = texts.iter().map(|text| mask.masked("message", text)).collect();
        assert!(tokens.iter().all(|token| token.len() == tokens[0].len()), "{tokens:?}");
        // About half of the neighbors among sorted texts have tokens in ascending order.
        let rising = tokens.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((70..130).contains(&rising), "{rising}");
        for (column, text) in
            [("domain", "hip"), ("direction", "H2D"), ("api_name", "hipMemcpyAsync"), ("grid", "1,2,3")]
        {
            assert_eq!(mask.masked(column, text), text);
        }
        assert!(mask.masked("kernel_name", "gemm").starts_with("[TEXT_x"));
        let token = mask.masked("kernel_name", "zebra_gemm");
        assert_eq!(mask.masked("message", "zebra_gemm"), token);
        let row = format!("x{}y", tokens[7]);
        assert_eq!(mask.originals_in(&row).into_iter().collect::<Vec<_>>(), [(tokens[7].clone(), texts[7].clone())]);
    }

    #[test]
    fn names_are_shown_where_they_are_shared_and_machines_never() {
        for share in [Share::Names, Share::Source] {
            let mask = mask(share);
            assert_eq!(mask.masked("kernel_name", "void ns::k<int>(float)"), "void ns::k<int>(float)");
            assert_eq!(mask.masked("hostname", "qATLAS17"), "q[HOST_1]");
            let command = mask.masked("command", "python3 train.py");
            assert!(command.starts_with("[COMMAND_x") && mask.originals_in(&command).len() == 1, "{command}");
            let path = mask.masked("message", "load /home/somebody/x");
            assert!(path.starts_with("load [PATH_x") && path.len() == "load [PATH_x0123456789abcdef]".len(), "{path}");
            assert_eq!(mask.originals_in(&path).len(), 1, "{path}");
            let rows = ["falcon waits", "load /home/falcon/x"];
            mask.prepare(&mut rows.into_iter());
            let waits = mask.masked("message", rows[0]);
            assert!(waits.starts_with("[USER_x") && waits.ends_with("] waits"), "{waits}");
            let secret = mask.masked("message", "the password is hunter2");
            assert!(secret.contains("[SECRET_x") && mask.originals_in(&secret).is_empty(), "{secret}");
        }
    }

    #[test]
    fn guesses_are_noticed() {
        let mut names = TokenMap::default();
        names.name("NAME", "train step");
        let mut redactor = Redactor::new(Rules::new(Share::Figures, None).unwrap(), names);
        for (text, strange) in [
            ("@[NAME_1]/2", None),
            ("@NAME_1:+1500ms", None),
            ("10%:90%", None),
            ("steady", None),
            ("gemm,communication", None),
            ("dominant_kernel:[NAME_1]", None),
            ("range:[NAME_1]", None),
            ("total", None),
            ("range:train step", Some("train step")),
            ("-5.5", None),
            ("@train step", Some("train step")),
            ("@zebra/1", Some("zebra")),
            ("gemm,falcon", Some("falcon")),
        ] {
            assert_eq!(strange_part(text, Share::Figures, &mut redactor).as_deref(), strange, "{text}");
        }
        let mut redactor = Redactor::new(Rules::new(Share::Names, None).unwrap(), TokenMap::default());
        assert_eq!(strange_part("@train step", Share::Names, &mut redactor), None);
        assert!(strange_part("@/home/somebody/x", Share::Names, &mut redactor).is_some());
    }
}
