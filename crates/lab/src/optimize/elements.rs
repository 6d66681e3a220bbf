//! Comparing results element by element.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    F32,
    F64,
    /// Integers and anything else: to the byte, in elements of so many bytes.
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
    /// Those of accordo (intellikit): 1e-8 and 1e-5.
    fn default() -> Self {
        Self { absolute: 1e-8, relative: 1e-5 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Differences {
    pub elements: u64,
    pub different: u64,
    /// Place of the first, counted from zero, with both values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<(u64, String, String)>,
    /// The largest difference of two numbers, also of those within the tolerance.
    pub largest: f64,
}

impl ElementType {
    pub fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "i8" | "u8" | "bytes" => Self::Exact(1),
            "i16" | "u16" => Self::Exact(2),
            "i32" | "u32" => Self::Exact(4),
            "i64" | "u64" => Self::Exact(8),
            "text" => Self::Text,
            _ => return None,
        })
    }

    /// Compares two files. Equal bits are equal, those of NaN included.
    pub fn differences(self, expected: &[u8], found: &[u8], tolerance: Tolerance) -> Differences {
        match self {
            Self::Text => of_texts(expected, found, tolerance),
            Self::Exact(size) => of_elements(expected, found, size, &|_| None, tolerance),
            Self::F16 => of_elements(expected, found, 2, &|bytes| array(bytes).map(half), tolerance),
            Self::Bf16 => of_elements(expected, found, 2, &|bytes| array(bytes).map(upper_half), tolerance),
            Self::F32 => {
                let value = |bytes: &[u8]| array(bytes).map(|bytes| f64::from(f32::from_le_bytes(bytes)));
                of_elements(expected, found, 4, &value, tolerance)
            }
            Self::F64 => of_elements(expected, found, 8, &|bytes| array(bytes).map(f64::from_le_bytes), tolerance),
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
    // Between infinities any difference is infinite, and so is what a relative tolerance allows.
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

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn upper_half(bytes: [u8; 2]) -> f64 {
    f64::from(f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
}

fn half(bytes: [u8; 2]) -> f64 {
    let bits = u16::from_le_bytes(bytes);
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => libm::ldexp(fraction, -24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => libm::ldexp(fraction + 1024.0, exponent - 25),
    };
    sign * value
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
        // The same NaN is the same; another value differs from it.
        assert_eq!(f32.differences(&bytes(&[f32::NAN]), &bytes(&[f32::NAN]), usual).different, 0);
        assert_eq!(f32.differences(&bytes(&[f32::NAN]), &bytes(&[1.0]), usual).different, 1);
        assert_eq!(f32.differences(&bytes(&[1.0]), &bytes(&[f32::INFINITY]), usual).different, 1);
        for value in [f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(f32.differences(&bytes(&[value]), &bytes(&[-42.0]), usual).different, 1);
            assert_eq!(f32.differences(&bytes(&[value]), &bytes(&[-value]), usual).different, 1);
            assert_eq!(f32.differences(&bytes(&[value]), &bytes(&[value]), usual).different, 0);
        }
        // Less and more than expected.
        assert_eq!(f32.differences(&bytes(&[1.0, 2.0]), &bytes(&[1.0]), usual).different, 1);
        let more = f32.differences(&bytes(&[1.0]), &bytes(&[1.0, 2.0]), usual);
        assert_eq!(more.first, Some((1, "nothing".to_owned(), "2".to_owned())));
    }

    #[test]
    fn small_floats_and_integers() {
        for (bits, value) in [(0x3c00_u16, 1.0), (0xc000, -2.0), (0x0001, 5.960_464_477_539_063e-8), (0x7bff, 65504.0)]
        {
            assert_eq!(half(bits.to_le_bytes()), value);
        }
        assert!(half(0x7e00_u16.to_le_bytes()).is_nan());
        assert_eq!(upper_half(0x3f80_u16.to_le_bytes()), 1.0);
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
