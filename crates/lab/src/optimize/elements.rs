//! Compares results element by element.

use serde::Serialize;

use crate::replay::compare::Element;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// Floating-point numbers, compared with a tolerance.
    Float(Element),
    /// Integers and all other types: compared byte for byte, in elements of this many bytes.
    Exact(usize),
    /// Words between blanks; numbers among them are compared as numbers.
    Text,
}

/// How much two floating point numbers may differ: `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

impl Default for Tolerance {
    /// The defaults of accordo (intellikit): 1e-8 and 1e-5.
    fn default() -> Self {
        Self { absolute: 1e-8, relative: 1e-5 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    pub elements: u64,
    pub different: u64,
    /// Index of the first difference, from zero, with both values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<(u64, String, String)>,
    /// The largest difference of two numbers, including differences within the tolerance.
    pub largest: f64,
}

impl ElementType {
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "bytes" => Some(Self::Exact(1)),
            "text" => Some(Self::Text),
            _ => {
                let element: Element = word.parse().ok()?;
                let known = if element.is_float() { Self::Float(element) } else { Self::Exact(element.bytes()) };
                (element.name() == word).then_some(known)
            }
        }
    }

    /// Compares two files. Equal bits are equal, including NaN.
    pub fn differences(self, expected: &[u8], found: &[u8], tolerance: Tolerance) -> Differences {
        match self {
            Self::Text => of_texts(expected, found, tolerance),
            Self::Exact(size) => of_elements(expected, found, size, &|_| None, tolerance),
            Self::Float(element) => {
                let size = element.bytes();
                let value = |bytes: &[u8]| (bytes.len() == size).then(|| element.value(bytes).as_float());
                of_elements(expected, found, size, &value, tolerance)
            }
        }
    }
}

impl Differences {
    fn add(&mut self, is_equal: bool, values: Option<(f64, f64)>, shown: impl FnOnce() -> (String, String)) {
        if let Some((one, other)) = values {
            let difference = (one - other).abs();
            if difference.is_finite() {
                self.largest = self.largest.max(difference);
            }
        }
        if !is_equal {
            if self.first.is_none() {
                let (one, other) = shown();
                self.first = Some((self.elements, one, other));
            }
            self.different += 1;
        }
        self.elements += 1;
    }
}

fn is_near(expected: f64, found: f64, tolerance: Tolerance) -> bool {
    // The difference to infinity is infinite, and a relative tolerance of infinity allows it.
    let are_finite = expected.is_finite() && found.is_finite();
    are_finite && (expected - found).abs() <= tolerance.absolute + tolerance.relative * expected.abs()
}

fn of_elements(
    expected: &[u8],
    found: &[u8],
    size: usize,
    value: &dyn Fn(&[u8]) -> Option<f64>,
    tolerance: Tolerance,
) -> Differences {
    let mut differences = Differences::default();
    let (mut one, mut other) = (expected.chunks(size), found.chunks(size));
    loop {
        let (one, other) = match (one.next(), other.next()) {
            (None, None) => return differences,
            (one, other) => (one.unwrap_or_default(), other.unwrap_or_default()),
        };
        if one == other {
            differences.elements += 1;
            continue;
        }
        let values = value(one).zip(value(other));
        let is_equal = values.is_some_and(|(one, other)| is_near(one, other, tolerance));
        let shown = |bytes: &[u8]| match value(bytes) {
            _ if bytes.is_empty() => "nothing".to_owned(),
            Some(value) => value.to_string(),
            None => bytes.iter().rev().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
        };
        differences.add(is_equal, values, || (shown(one), shown(other)));
    }
}

fn of_texts(expected: &[u8], found: &[u8], tolerance: Tolerance) -> Differences {
    let mut differences = Differences::default();
    let (expected, found) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
    let is_between =
        |sign: char| sign.is_whitespace() || matches!(sign, ',' | ';' | ':' | '[' | ']' | '(' | ')' | '{' | '}' | '=');
    let words =
        |text: &'_ str| text.split(is_between).filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (expected, found) = (words(&expected), words(&found));
    for place in 0..expected.len().max(found.len()) {
        let word = |words: &[String]| words.get(place).cloned().unwrap_or_else(|| "nothing".to_owned());
        let (one, other) = (word(&expected), word(&found));
        let are_integers = one.parse::<i128>().is_ok() && other.parse::<i128>().is_ok();
        let values = one.parse::<f64>().ok().zip(other.parse::<f64>().ok());
        let is_equal =
            one == other || !are_integers && values.is_some_and(|(one, other)| is_near(one, other, tolerance));
        differences.add(is_equal, values, || (one, other));
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn floats_are_equal_within_the_tolerance() {
        let (usual, f32) = (Tolerance::default(), ElementType::of_word("f32").unwrap());
        let found = f32.differences(&bytes(&[1.0, 2.0, 3.0]), &bytes(&[1.0, 2.000_01, 3.1]), usual);
        assert_eq!((found.elements, found.different), (3, 1));
        assert_eq!(found.first, Some((2, "3".to_owned(), "3.0999999046325684".to_owned())));
        assert!((found.largest - 0.1).abs() < 1e-6);
        // The same NaN bits are equal; another value differs.
        assert_eq!(f32.differences(&bytes(&[f32::NAN]), &bytes(&[f32::NAN]), usual).different, 0);
        assert_eq!(f32.differences(&bytes(&[f32::NAN]), &bytes(&[1.0]), usual).different, 1);
        assert_eq!(f32.differences(&bytes(&[1.0]), &bytes(&[f32::INFINITY]), usual).different, 1);
        for value in [f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(f32.differences(&bytes(&[value]), &bytes(&[-42.0]), usual).different, 1);
            assert_eq!(f32.differences(&bytes(&[value]), &bytes(&[-value]), usual).different, 1);
            assert_eq!(f32.differences(&bytes(&[value]), &bytes(&[value]), usual).different, 0);
        }
        // Shorter and longer than expected.
        assert_eq!(f32.differences(&bytes(&[1.0, 2.0]), &bytes(&[1.0]), usual).different, 1);
        let more = f32.differences(&bytes(&[1.0]), &bytes(&[1.0, 2.0]), usual);
        assert_eq!(more.first, Some((1, "nothing".to_owned(), "2".to_owned())));
    }

    #[test]
    fn integers_are_equal_to_the_byte() {
        let exact =
            ElementType::of_word("u32").unwrap().differences(&[1, 0, 0, 0], &[2, 0, 0, 0], Tolerance::default());
        assert_eq!(exact.first, Some((0, "0x00000001".to_owned(), "0x00000002".to_owned())));
        assert_eq!(ElementType::of_word("f128"), None);
    }

    #[test]
    fn numbers_in_texts() {
        let text = ElementType::Text;
        let usual = Tolerance::default();
        assert_eq!(text.differences(b"sum = 1.000000, ok", b"sum=1.0000001 , ok", usual).different, 0);
        let found = text.differences(b"sum 1.0 ok", b"sum 1.1 failed", usual);
        assert_eq!((found.elements, found.different), (3, 2));
        // Integers are exact: a checksum is not a measurement.
        assert_eq!(text.differences(b"3735920000 inf", b"3735928560 1e9", usual).different, 2);
        assert_eq!(text.differences(b"", b"", usual), Differences::default());
    }
}
