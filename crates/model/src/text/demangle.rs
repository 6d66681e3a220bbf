//! Names in C++ spelling.

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, Symbol};

/// Maximum bytes of a demangled name: back references could make it grow without bounds.
const MAX_TEXT: usize = 1 << 16;

/// The C++ name of a mangled symbol; `None` if it is not mangled, or names nothing.
pub fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let symbol = Symbol::new(symbol).ok()?;
    let mut text = Limited(String::new());
    symbol.structured_demangle(&mut text, &DemangleOptions::new().hide_expression_literal_types()).ok()?;
    Some(text.0).filter(|text| !text.is_empty())
}

/// A text that rejects growth beyond the limit.
struct Limited(String);

impl DemangleWrite for Limited {
    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > MAX_TEXT {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::demangled;

    /// Names of library kernels with their spelling, which was checked manually.
    const NAMES: &str = data!("fixtures/code_object/names.txt");

    #[test]
    fn names_of_kernels() {
        for line in NAMES.lines().filter(|line| !line.starts_with('#')) {
            let (mangled, plain) = line.split_once('\t').unwrap();
            assert_eq!(demangled(mangled).as_deref(), Some(plain), "{mangled}");
        }
    }

    #[test]
    fn what_is_no_name_stays() {
        for name in ["plain", "_Z", "_ZN", "_ZN2ns", "_Z3fooT_", "_Z1fS_", "_Z99f", "_Z1fP", "_ZC", "___Z1fi"] {
            assert_eq!(demangled(name), None, "{name}");
        }
        assert_eq!(demangled(&format!("_Z1f{}i", "P".repeat(1000))), None);
        // Every template argument doubles its predecessor.
        let before = (1..36).map(|number| format!("S{}_", char::from_digit(number, 36).unwrap().to_ascii_uppercase()));
        let doubling: String = before.map(|before| format!("S0_I{before}{before}E")).collect();
        assert_eq!(demangled(&format!("_Z1f1a{doubling}")), None);
        assert_eq!(demangled(&format!("_Z1fI1aIiiE{doubling}Evv")), None);
    }
}
