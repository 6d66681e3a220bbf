//! The meaning of words in signatures: macros and type names that the same text defines.

use std::collections::{BTreeMap, BTreeSet};

use super::target::Target;

/// The first name in the signatures of the kernels that has another meaning in the changed text.
pub(super) fn changed_meaning(old_text: &str, old: &Target, new_text: &str) -> Option<String> {
    let (before, after) = (definitions(old_text), definitions(new_text));
    let mut open: Vec<String> = old
        .all
        .iter()
        .filter_map(|kernel| old_text.get(kernel.signature.clone()))
        .flat_map(|signature| words(signature).map(str::to_owned))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(word) = open.pop() {
        if !seen.insert(word.clone()) {
            continue;
        }
        let (one, other) = (before.get(word.as_str()), after.get(word.as_str()));
        if one != other {
            return Some(word);
        }
        let behind = one.into_iter().flatten().flat_map(|line| words(line).map(str::to_owned));
        open.extend(behind);
    }
    None
}

/// The added line that could make the compiler read a file outside of the sources, and print it.
pub(super) fn included_from_outside(old_text: &str, new_text: &str) -> Option<String> {
    let (old_text, new_text) = (spliced(old_text), spliced(new_text));
    let is_including = |line: &str| {
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        // Names that `##` builds are not found.
        ["include", "embed", "incbin", "__has_include", "import", "##", "%:%:"].iter().any(|word| line.contains(word))
    };
    let known: BTreeSet<&str> = old_text.lines().map(str::trim).collect();
    let new = new_text.lines().map(str::trim).filter(|line| is_including(line) && !known.contains(line));
    let leaves =
        |line: &&str| line.contains("..") || line.contains("\"/") || line.contains("</") || !line.contains(['"', '<']);
    new.filter(leaves).map(str::to_owned).next().or_else(|| {
        let known = assemblies(&old_text);
        assemblies(&new_text).into_iter().find(|assembly| !known.contains(assembly) && !is_plain_assembly(assembly))
    })
}

/// A text without line ends that a backslash hides.
fn spliced(text: &str) -> String {
    let mut joined = String::new();
    for line in text.replace("??/", "\\").lines() {
        match line.trim_end().strip_suffix('\\') {
            Some(begin) => joined.push_str(begin),
            None => {
                joined.push_str(line);
                joined.push('\n');
            }
        }
    }
    joined
}

/// The text after each assembly keyword, up to the end of the statement.
fn assemblies(text: &str) -> Vec<String> {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut found = Vec::new();
    for word in ["asm", "__asm", "__asm__"] {
        for (at, _) in text.match_indices(word) {
            let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + word.len()..).unwrap_or_default());
            if !before.ends_with(is_word) && !after.starts_with(is_word) {
                let end = after.find(';').unwrap_or(after.len());
                found.push(after.get(..end).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
    found
}

/// Returns whether the instructions are plain texts, without directives that read files and without escapes that could
/// hide one.
fn is_plain_assembly(assembly: &str) -> bool {
    let Some((_, inner)) = assembly.split_once('(') else { return false };
    let mut text = String::new();
    let mut rest = inner.trim_start();
    while let Some(begin) = rest.strip_prefix('"') {
        let Some(end) = begin.find('"') else { return false };
        text.push_str(begin.get(..end).unwrap_or_default());
        rest = begin.get(end + 1..).unwrap_or_default().trim_start();
    }
    let text = text.replace("\\n", " ").replace("\\t", " ");
    rest.starts_with([':', ')']) && !text.contains(".inc") && !text.contains('\\')
}

/// The lines that define each name, in order.
fn definitions(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        let line_words: Vec<&str> = words(line).collect();
        let is_directive = line.starts_with('#');
        let is_defining = match line_words.first() {
            Some(&("define" | "undef")) => is_directive,
            Some(&"using") => true,
            _ => !is_directive && line_words.contains(&"typedef"),
        };
        if !is_defining {
            continue;
        }
        let name = if is_directive || line_words.first() == Some(&"using") {
            line_words.iter().find(|word| !matches!(**word, "define" | "undef" | "using" | "typename" | "namespace"))
        } else {
            line_words.last()
        };
        if let Some(name) = name {
            found.entry(name).or_default().push(line);
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define SIZE 4\ntypedef int count_t;\nusing inner = count_t;\n__global__ void k(float* a, inner n) { a[0] = n; }\n";

    #[test]
    fn words_of_signatures_keep_their_meaning() {
        let old = Target::find(TEXT, None).unwrap();
        let changed = |new: &str| changed_meaning(TEXT, &old, new);
        assert_eq!(changed(TEXT), None);
        // Also through another name, and by a macro named like a type.
        assert_eq!(changed(&TEXT.replace("typedef int", "typedef float")).as_deref(), Some("count_t"));
        assert_eq!(changed(&format!("#define float double\n{TEXT}")).as_deref(), Some("float"));
        assert_eq!(changed(&format!("#  define float double\n{TEXT}")).as_deref(), Some("float"));
        // Words that no signature needs may change.
        assert_eq!(changed(&TEXT.replace("SIZE 4", "SIZE 8")), None);
        assert_eq!(changed(&format!("#define OTHER 1\n{TEXT}")), None);
    }

    #[test]
    fn files_outside_of_the_sources_are_not_included() {
        let outside = |line: &str| included_from_outside("#include <a.h>\n", &format!("#include <a.h>\n{line}\n"));
        for line in [
            "#include \"/etc/passwd\"",
            "#  include \"../secret\"",
            "#include FILE",
            "asm(\".incbin \\\"/etc/passwd\\\"\");",
            "#inc\\\nlude \"/etc/passwd\"",
            "#inc\\ \nlude \"/etc/passwd\"",
            "#inc??/\nlude \"/etc/passwd\"",
            "__asm__(\".inc\" \"bin \\\"/etc/passwd\\\"\");",
            "__asm__ volatile(\".inc\"\n \"lude f\" : : \"v\"(1));",
            "asm(\".\\x69ncbin f\");",
            "#define HIDDEN asm",
            "asm(MACRO(.incbin));",
            "#define PASTE(a, b) a##b",
        ] {
            assert!(outside(line).is_some(), "{line}");
        }
        assert_eq!(outside("#include \"mine.h\""), None);
        assert_eq!(outside("#include <math.h>"), None);
        assert_eq!(outside("int i = 0;"), None);
        assert_eq!(outside("asm volatile(\"s_nop 0\\n\" \"s_nop 1\" : \"=v\"(a) : \"v\"(b));"), None);
    }
}
