//! Tolerances for memory comparisons.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::element::{Element, Number};

/// Accordo's default tolerances for floating-point numbers.
const RELATIVE: f64 = 1e-5;
const ABSOLUTE: f64 = 1e-8;

/// Elements of a type may differ by `absolute + relative * |expected|`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    pub element: Element,
    pub relative: f64,
    pub absolute: f64,
}

/// Tolerances by region; memory without one is compared byte for byte.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tolerances {
    /// An address in the region, or `None` for all other regions.
    pub by_region: Vec<(Option<u64>, Tolerance)>,
}

impl Tolerance {
    /// Returns whether a found value is within the tolerance. NaN matches any NaN: its bits carry no result.
    pub(super) fn allows(&self, expected: Number, found: Number) -> bool {
        if expected.as_float().is_nan() && found.as_float().is_nan() {
            return true;
        }
        // A tolerance relative to infinity is infinite.
        let distance = expected.distance(found);
        distance.is_finite() && distance <= self.absolute + self.relative * expected.as_float().abs()
    }
}

impl Tolerances {
    pub(super) fn of_region(&self, base: u64, size: u64) -> Option<Tolerance> {
        let in_it = |address: u64| address >= base && address - base < size;
        let named = self.by_region.iter().find(|(address, _)| address.is_some_and(in_it));
        named.or_else(|| self.by_region.iter().find(|(address, _)| address.is_none())).map(|(_, tolerance)| *tolerance)
    }

    /// Addresses outside of all these regions.
    pub(super) fn unmatched(&self, regions: impl Fn(u64) -> bool) -> Vec<u64> {
        self.by_region.iter().filter_map(|(address, _)| *address).filter(|address| !regions(*address)).collect()
    }
}

impl FromStr for Tolerances {
    type Err = String;

    /// Parses `[ADDRESS=]TYPE[:RELATIVE[:ABSOLUTE]]`, separated by commas.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut by_region = Vec::new();
        for item in text.split(',').map(str::trim) {
            let (address, rest) = match item.split_once('=') {
                Some((address, rest)) => (Some(parse_address(address)?), rest),
                None => (None, item),
            };
            let mut parts = rest.split(':');
            let element: Element = parts.next().unwrap_or_default().parse()?;
            let by_default = |value| if element.is_float() { value } else { 0.0 };
            let relative = parts.next().map(parse_amount).transpose()?.unwrap_or_else(|| by_default(RELATIVE));
            let absolute = parts.next().map(parse_amount).transpose()?.unwrap_or_else(|| by_default(ABSOLUTE));
            if parts.next().is_some() {
                return Err(format!("`{item}` has too many parts; write [ADDRESS=]TYPE[:RELATIVE[:ABSOLUTE]]"));
            }
            if by_region.iter().any(|(known, _)| *known == address) {
                return Err(format!("`{item}` sets a tolerance for what has one already"));
            }
            by_region.push((address, Tolerance { element, relative, absolute }));
        }
        Ok(Self { by_region })
    }
}

fn parse_address(text: &str) -> Result<u64, String> {
    let digits = text.trim().trim_start_matches("0x");
    u64::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is not an address; write it as 0x7f0000000000"))
}

fn parse_amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| format!("`{text}` is not a tolerance; write a number from 0, such as 1e-5"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_read() {
        let read: Tolerances = "f32:1e-4, 0x7f00=f16:0:0.5,i32".parse().unwrap_or_default();
        assert_eq!(read.by_region, [], "two are for all regions");
        let read: Tolerances = "f32:1e-4, 0x7f00=f16:0:0.5".parse().unwrap();
        let of_all = Tolerance { element: Element::F32, relative: 1e-4, absolute: 1e-8 };
        let of_one = Tolerance { element: Element::F16, relative: 0.0, absolute: 0.5 };
        assert_eq!(read.by_region, [(None, of_all), (Some(0x7f00), of_one)]);
        assert_eq!(read.of_region(0x7000, 0x1000), Some(of_one));
        assert_eq!(read.of_region(0x7f01, 0x1000), Some(of_all));
        assert_eq!(read.unmatched(|address| address < 0x7f00), [0x7f00]);
        let whole: Tolerances = "i32".parse().unwrap();
        assert_eq!(whole.by_region[0].1.absolute, 0.0);
        for wrong in ["", "f32:x", "f32:-1", "f32:1:2:3", "f99", "zz=f32", "f32:inf"] {
            assert!(wrong.parse::<Tolerances>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_within_are_allowed() {
        let tolerance = Tolerance { element: Element::F32, relative: 0.1, absolute: 0.5 };
        let allows = |expected: f32, found: f32| tolerance.allows(Number::Single(expected), Number::Single(found));
        assert!(allows(10.0, 11.5) && !allows(10.0, 11.6) && allows(0.0, -0.5) && allows(0.0, -0.0));
        assert!(
            allows(f32::NAN, -f32::NAN)
                && !allows(f32::NAN, 1.0)
                && !allows(1.0, f32::NAN)
                && !allows(f32::INFINITY, 1.0)
        );
    }
}
