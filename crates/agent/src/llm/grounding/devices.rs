//! Finds names of GPUs that the document does not have: `share/gpus.toml`, and names of other vendors.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::table::words;
use wavesieve_model::analysis::hardware::devices::Catalog;

static DEVICE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(?:(?i:gfx[0-9]+[a-f]?|MI[0-9]{3}[A-Z]?)|[A-Z][A-Za-z0-9]+)\b").ok());

#[derive(Clone, Debug, Default)]
pub(super) struct Devices {
    /// Words of the document that name a GPU, in lower case.
    named: BTreeSet<String>,
    /// Product names of its architectures, in upper case.
    products: BTreeSet<&'static str>,
    has_architecture: bool,
}

impl Devices {
    /// Collects the devices of a document; `words` are its words in lower case.
    pub(super) fn of_words(words: &BTreeSet<String>) -> Self {
        let named: BTreeSet<String> = words.iter().filter(|word| is_device(word)).cloned().collect();
        let catalog = Catalog::builtin();
        let architectures: Vec<&String> = named.iter().filter(|word| catalog.architecture(word).is_some()).collect();
        let products =
            architectures.iter().flat_map(|name| catalog.products_of(name)).map(|listed| listed.name).collect();
        let has_architecture = !architectures.is_empty();
        Self { named, products, has_architecture }
    }

    /// Finds names of other GPUs in a text.
    pub(super) fn others(&self, text: &str) -> Vec<Range<usize>> {
        let Some(device) = DEVICE.as_ref() else { return Vec::new() };
        let others = device.find_iter(text).filter(|found| is_device(found.as_str()) && self.is_other(found.as_str()));
        others.map(|found| found.range()).collect()
    }

    fn is_other(&self, word: &str) -> bool {
        if self.named.contains(&word.to_lowercase()) {
            return false;
        }
        if is_of_other_maker(word) {
            return true;
        }
        let word = word.to_uppercase();
        // MI200 stands for all products of its series.
        let family = word.strip_suffix("00").unwrap_or(&word);
        self.has_architecture && !self.products.iter().any(|product| product.starts_with(family))
    }
}

fn is_of_other_maker(word: &str) -> bool {
    words().other_devices.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn is_device(word: &str) -> bool {
    let lower = word.to_lowercase();
    let has_digits = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    let is_product = |rest: &str| {
        has_digits(rest) && matches!(rest.len(), 3 | 4) && rest.chars().take(3).all(|letter| letter.is_ascii_digit())
    };
    lower.strip_prefix("gfx").is_some_and(|rest| has_digits(rest) && rest.len() > 2)
        || lower.strip_prefix("mi").is_some_and(is_product)
        || is_of_other_maker(word)
}
