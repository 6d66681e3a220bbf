//! Types of the elements of memory.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Single(f32),
    Double(f64),
}

impl Element {
    const ALL: [Self; 12] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
    ];

    pub fn name(self) -> String {
        crate::word_of(&self)
    }

    pub fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// The value of little-endian bytes. Their number is the size of the type.
    pub(crate) fn value(self, bytes: &[u8]) -> Number {
        let mut wide = [0; 8];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        let [first, second, third, fourth, ..] = wide;
        let half = [first, second];
        let word = [first, second, third, fourth];
        match self {
            Self::U8 => Number::Whole(first.into()),
            Self::I8 => Number::Whole(first.cast_signed().into()),
            Self::U16 => Number::Whole(u16::from_le_bytes(half).into()),
            Self::I16 => Number::Whole(i16::from_le_bytes(half).into()),
            Self::U32 => Number::Whole(u32::from_le_bytes(word).into()),
            Self::I32 => Number::Whole(i32::from_le_bytes(word).into()),
            Self::U64 => Number::Whole(u64::from_le_bytes(wide).into()),
            Self::I64 => Number::Whole(i64::from_le_bytes(wide).into()),
            Self::F16 => Number::Single(of_half(u16::from_le_bytes(half))),
            Self::Bf16 => Number::Single(f32::from_bits(u32::from(u16::from_le_bytes(half)) << 16)),
            Self::F32 => Number::Single(f32::from_le_bytes(word)),
            Self::F64 => Number::Double(f64::from_le_bytes(wide)),
        }
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|element| element.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            format!("unknown element type `{text}`; choose from {}", Self::ALL.map(Self::name).join(", "))
        })
    }
}

impl Number {
    /// The value itself, or the nearest float.
    pub(crate) fn as_float(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Single(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    /// The distance between two values of a type.
    pub(super) fn distance(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => (one - other).unsigned_abs() as f64,
            _ => (self.as_float() - other.as_float()).abs(),
        }
    }

    /// The shortest text that differs from those of neighboring values.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Whole(value) => value.to_string(),
            Self::Single(value) => format!("{value:?}"),
            Self::Double(value) => format!("{value:?}"),
        }
    }
}

fn of_half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_values() {
        let shown = |element: Element, bytes: &[u8]| element.value(bytes).shown();
        assert_eq!(shown(Element::F32, &1.1_f32.to_le_bytes()), "1.1");
        assert_eq!(shown(Element::F64, &1e300_f64.to_le_bytes()), "1e300");
        assert_eq!(shown(Element::I16, &(-2_i16).to_le_bytes()), "-2");
        assert_eq!(shown(Element::I8, &[0xff]), "-1");
        assert_eq!(shown(Element::U64, &u64::MAX.to_le_bytes()), "18446744073709551615");
        assert_eq!(shown(Element::Bf16, &[0x80, 0x3f]), "1.0");
        let halves = [0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x8000];
        let halves: Vec<String> = halves.iter().map(|bits| shown(Element::F16, &u16::to_le_bytes(*bits))).collect();
        assert_eq!(halves, ["1.0", "-2.0", "5.9604645e-8", "65504.0", "inf", "-inf", "NaN", "-0.0"]);
        assert!("F32".parse() == Ok(Element::F32) && "f8".parse::<Element>().is_err());
    }
}
