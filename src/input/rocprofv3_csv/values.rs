//! How fields are understood.

/// Classes of labels of agents, packed above the number.
const CLASS_BITS: u32 = 58;
const LARGEST_LABEL: i64 = (1 << CLASS_BITS) - 1;

/// An agent as a file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentLabel {
    /// `4`, of early versions: the number of the kernel driver.
    Number(i64),
    /// `Agent 4`: the number among the agents the process sees, or that of the kernel driver.
    Agent(i64),
    /// `CPU 0`: the number among the CPUs.
    Cpu(i64),
    /// `GPU 0`: the number among the GPUs.
    Gpu(i64),
    /// `NIC 0`: the number among the network cards.
    Nic(i64),
}

impl AgentLabel {
    /// The label as one number, so that it can stand in a column.
    pub fn code(self) -> i64 {
        let (class, number) = match self {
            Self::Number(number) => (0, number),
            Self::Agent(number) => (1, number),
            Self::Cpu(number) => (2, number),
            Self::Gpu(number) => (3, number),
            Self::Nic(number) => (4, number),
        };
        (class << CLASS_BITS) | number
    }

    /// The label of a [`AgentLabel::code`].
    pub fn of_code(code: i64) -> Self {
        let number = code & LARGEST_LABEL;
        match code >> CLASS_BITS {
            1 => Self::Agent(number),
            2 => Self::Cpu(number),
            3 => Self::Gpu(number),
            4 => Self::Nic(number),
            _ => Self::Number(number),
        }
    }

    /// The number of the label.
    pub fn number(self) -> i64 {
        match self {
            Self::Number(number) | Self::Agent(number) | Self::Cpu(number) | Self::Gpu(number) | Self::Nic(number) => {
                number
            }
        }
    }
}

/// A field of numbers: a value, none, or a text that is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsed<T> {
    /// A value.
    Value(T),
    /// An empty field, or a word for nothing.
    Missing,
    /// No number.
    Bad,
}

impl<T> Parsed<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Bad, Self::Value)
    }
}

/// An integer: decimal, hexadecimal after `0x` (wrapped above the largest), or a floating point number, whose fraction
/// is cut.
pub fn integer(field: &[u8]) -> Parsed<i64> {
    if let Some(value) = plain_integer(field) {
        return Parsed::Value(value);
    }
    let Some(text) = trimmed(field) else { return Parsed::Missing };
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return Parsed::from(u64::from_str_radix(digits, 16).ok().map(u64::cast_signed));
    }
    if let Ok(value) = text.parse::<i64>() {
        return Parsed::Value(value);
    }
    if let Ok(value) = text.parse::<u64>() {
        return Parsed::Value(value.cast_signed());
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_nan() => Parsed::Missing,
        Ok(value) if value.abs() < 9.2e18 => Parsed::Value(value as i64),
        _ => Parsed::Bad,
    }
}

/// Digits without anything around them, the rule.
fn plain_integer(field: &[u8]) -> Option<i64> {
    if field.is_empty() || field.len() > 18 {
        return None;
    }
    field.iter().try_fold(0_i64, |value, byte| {
        byte.is_ascii_digit().then(|| value.wrapping_mul(10).wrapping_add(i64::from(byte.wrapping_sub(b'0'))))
    })
}

/// A floating point number; what is not finite is missing.
pub fn float(field: &[u8]) -> Parsed<f64> {
    let Some(text) = trimmed(field) else { return Parsed::Missing };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Parsed::Value(value),
        Ok(_) => Parsed::Missing,
        Err(_) => match integer(field) {
            Parsed::Value(value) => Parsed::Value(value as f64),
            Parsed::Missing => Parsed::Missing,
            Parsed::Bad => Parsed::Bad,
        },
    }
}

/// An agent: a number, or a word and a number. Anything else is no agent.
pub fn agent(field: &[u8]) -> Option<AgentLabel> {
    if let Some(number) = plain_integer(field) {
        return (number <= LARGEST_LABEL).then_some(AgentLabel::Number(number));
    }
    let text = trimmed(field)?;
    let word = text.trim_end_matches(|character: char| character.is_ascii_digit());
    let number: i64 = text.get(word.len()..)?.parse().ok()?;
    if number > LARGEST_LABEL {
        return None;
    }
    match word.trim_end_matches([' ', '-', '_', ':']).to_ascii_lowercase().as_str() {
        "" => Some(AgentLabel::Number(number)),
        "agent" => Some(AgentLabel::Agent(number)),
        "cpu" => Some(AgentLabel::Cpu(number)),
        "gpu" => Some(AgentLabel::Gpu(number)),
        "nic" => Some(AgentLabel::Nic(number)),
        _ => None,
    }
}

/// The text without blanks and stray quotes; `None` if nothing is left, or a word that stands for nothing.
fn trimmed(field: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(field).unwrap_or("?").trim().trim_matches('"').trim();
    let is_nothing =
        text.is_empty() || ["null", "none", "n/a", "na"].iter().any(|word| text.eq_ignore_ascii_case(word));
    (!is_nothing).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers() {
        for (field, value) in [
            ("12", Parsed::Value(12)),
            (" -7 ", Parsed::Value(-7)),
            ("0x00007ffb26354000", Parsed::Value(0x7ffb_2635_4000)),
            ("0xffffffffffffffff", Parsed::Value(-1)),
            ("18446744073709551615", Parsed::Value(-1)),
            ("1.50e3", Parsed::Value(1500)),
            ("10.625000", Parsed::Value(10)),
            ("", Parsed::Missing),
            ("\"", Parsed::Missing),
            ("nan", Parsed::Missing),
            ("None", Parsed::Missing),
            ("inf", Parsed::Bad),
            ("12 ns", Parsed::Bad),
            ("0x", Parsed::Bad),
        ] {
            assert_eq!(integer(field.as_bytes()), value, "{field}");
        }
    }

    #[test]
    fn floats() {
        for (field, value) in [
            ("10.625000", Parsed::Value(10.625)),
            ("16384", Parsed::Value(16384.0)),
            ("0x10", Parsed::Value(16.0)),
            ("inf", Parsed::Missing),
            ("", Parsed::Missing),
            ("fast", Parsed::Bad),
        ] {
            assert_eq!(float(field.as_bytes()), value, "{field}");
        }
    }

    #[test]
    fn agents() {
        for (field, label) in [
            ("4", Some(AgentLabel::Number(4))),
            ("Agent 4", Some(AgentLabel::Agent(4))),
            ("Agent-4", Some(AgentLabel::Agent(4))),
            ("GPU 0", Some(AgentLabel::Gpu(0))),
            ("CPU 1", Some(AgentLabel::Cpu(1))),
            ("\"", None),
            ("", None),
            ("Device 2", None),
        ] {
            assert_eq!(agent(field.as_bytes()), label, "{field}");
            assert_eq!(label, label.map(|label| AgentLabel::of_code(label.code())), "{field}");
        }
    }

    proptest! {
        #[test]
        fn every_integer_is_read(value in any::<i64>()) {
            prop_assert_eq!(integer(value.to_string().as_bytes()), Parsed::Value(value));
        }

        #[test]
        fn any_bytes_are_something(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let _ = (integer(&bytes), float(&bytes), agent(&bytes));
        }
    }
}
