//! Source lines of instructions: `FILE:LINE`, and after ` -> ` the lines into which that code was inlined.

/// Text between the links of a chain.
const SEPARATOR: &str = " -> ";

/// A line of a file; either may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// Path as the compiler recorded it.
    pub file: &'a str,
    /// Line from 1 on.
    pub line: Option<i64>,
}

/// The line of the instruction itself, which is the first of a chain.
pub fn innermost(chain: &str) -> Option<Link<'_>> {
    link(chain.split(SEPARATOR).next()?)
}

/// The line of the kernel into which the code was inlined, which is the last of a chain; the line of the instruction if
/// nothing was inlined.
pub fn outermost(chain: &str) -> Option<Link<'_>> {
    link(chain.rsplit(SEPARATOR).next()?)
}

fn link(text: &str) -> Option<Link<'_>> {
    let text = text.trim();
    // Without debug information, a comment stands in place of a line.
    if text.is_empty() || text.starts_with(';') {
        return None;
    }
    let numbered = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.trim().parse::<i64>().ok()?)));
    match numbered {
        Some((file, line)) if !file.is_empty() => Some(Link { file, line: Some(line).filter(|line| *line > 0) }),
        _ => Some(Link { file: text, line: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains() {
        let link = |file, line| Some(Link { file, line });
        let chain = "/usr/include/hip.h:275 -> a.py:12 -> b.hip:34";
        assert_eq!(
            (innermost(chain), outermost(chain)),
            (link("/usr/include/hip.h", Some(275)), link("b.hip", Some(34)))
        );
        assert_eq!((innermost("a.hip:7"), outermost("a.hip:7")), (link("a.hip", Some(7)), link("a.hip", Some(7))));
        assert_eq!(innermost("C:\\a.hip:7"), link("C:\\a.hip", Some(7)));
        assert_eq!(innermost("a.hip:0"), link("a.hip", None));
        assert_eq!(innermost("a.hip"), link("a.hip", None));
        assert_eq!((innermost(""), innermost("; a kernel"), outermost("a.c:1 -> ")), (None, None, None));
        assert_eq!(innermost(":7"), link(":7", None));
    }
}
