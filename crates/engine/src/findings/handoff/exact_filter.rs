//! Restricts rocprofv3 to one kernel: it searches the name in the form that its own flags choose.

use crate::findings::recommendations::escaped;

/// Maximum length of the part of a name in a pattern.
const LONGEST_PATTERN: usize = 1000;
/// Start of mangled names.
const MANGLED: &str = "_Z";

/// The words that restrict rocprofv3 to a kernel by its recorded name, and its symbol if known.
pub(super) fn exact_filter(recorded: &str, symbol: Option<&str>) -> Vec<String> {
    let is_mangled = recorded.starts_with(MANGLED);
    // Demangled names of functions end in their arguments.
    let is_truncated = !is_mangled && !recorded.contains('(');
    let is_of_cpp = symbol.map(|symbol| symbol.starts_with(MANGLED));
    let mut words = vec!["--kernel-include-regex".to_owned()];
    match is_of_cpp {
        None if is_truncated => words.push(format!("(^|[ :]){}", whole_or_start(recorded, "($|[<(])"))),
        _ => words.push(format!("^{}", whole_or_start(recorded, "$"))),
    }
    match is_of_cpp {
        _ if is_mangled => words.push("--mangled-kernels".to_owned()),
        Some(true) if is_truncated => words.push("--truncate-kernels".to_owned()),
        _ => {}
    }
    words
}

/// The words that restrict it to dispatches of each kernel, which it counts from 1.
pub(super) fn dispatch_filter((first, last): (i64, i64)) -> Vec<String> {
    let range = if first == last { format!("[{first}]") } else { format!("[{first}-{last}]") };
    vec!["--kernel-iteration-range".to_owned(), range]
}

/// A pattern for a whole name and an end, or for the start of a long name.
fn whole_or_start(name: &str, end: &str) -> String {
    match name.char_indices().nth(LONGEST_PATTERN) {
        Some((at, _)) => escaped(name.get(..at).unwrap_or(name)),
        None => format!("{}{end}", escaped(name)),
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn names_are_searched_in_the_form_that_was_recorded() {
        let cases: [(&str, Option<&str>, &[&str]); 7] = [
            ("void f<int>(int*)", Some("_Z1fIiEvPT_"), &[r"^void f<int>\(int\*\)$"]),
            ("f", Some("_Z1fIiEvPT_"), &["^f$", "--truncate-kernels"]),
            ("_Z1fIiEvPT_", Some("_Z1fIiEvPT_"), &["^_Z1fIiEvPT_$", "--mangled-kernels"]),
            ("gemm_kernel", Some("gemm_kernel"), &["^gemm_kernel$"]),
            ("gemm_kernel", None, &["(^|[ :])gemm_kernel($|[<(])"]),
            ("_Z1fv", None, &["^_Z1fv$", "--mangled-kernels"]),
            ("void f()", None, &[r"^void f\(\)$"]),
        ];
        for (recorded, symbol, expected) in cases {
            let words = exact_filter(recorded, symbol);
            assert_eq!(words.get(1..).unwrap(), expected, "{recorded} {symbol:?}");
        }
    }

    #[test]
    fn a_pattern_finds_its_name_and_no_other() {
        for name in ["void a::f<1, (b)2>(int*, [x])", "a\nb", "k\u{202e}k", "größe", "a.b", "$x^y|z{1}"] {
            let pattern = Regex::new(&exact_filter(name, Some(name)).swap_remove(1)).unwrap();
            assert!(pattern.is_match(name), "{pattern} {name:?}");
            assert!(!pattern.is_match(&format!("{name}1")) && !pattern.is_match(&format!("1{name}")), "{pattern}");
        }
        let long = "x".repeat(5000);
        assert!(Regex::new(&exact_filter(&long, None).swap_remove(1)).unwrap().is_match(&long));
        let other = Regex::new(&exact_filter("gemm", None).swap_remove(1)).unwrap();
        assert!(other.is_match("void ns::gemm<int>(int)") && !other.is_match("gemm_2") && !other.is_match("my_gemm"));
    }
}
