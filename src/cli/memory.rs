//! Amounts of memory: their notation, and the size of the memory.

use wavesieve_input::available_bytes;

/// Parses a size: bytes, with K, M, G or T for powers of 1024, or a percentage of the memory.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || "write a size such as 512M, 8G or 50%".to_owned();
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.trim().to_lowercase();
    let factor = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => f64::from(1 << 20),
        "g" => f64::from(1 << 30),
        "t" => f64::from(1 << 20) * f64::from(1 << 20),
        "%" if number > 100.0 => return Err("a limit cannot exceed 100% of the memory".to_owned()),
        "%" => {
            available_bytes().ok_or("the memory of this machine is unknown; write a size such as 8G")? as f64 / 100.0
        }
        _ => return Err(wrong()),
    };
    let bytes = number * factor;
    if bytes >= 1.0 && bytes.is_finite() { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1", 1),
            ("512M", 512 << 20),
            ("8G", 8 << 30),
            ("8GiB", 8 << 30),
            ("1.5k", 1536),
            ("2 gb", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "0", "-1G", "8X", "1e400", "nan", "120%", "100.1%"] {
            assert!(parse(text).is_err(), "{text}");
        }
        if let Some(all) = available_bytes() {
            assert!(parse("50%").unwrap().abs_diff(all / 2) <= 1024);
        }
    }
}
