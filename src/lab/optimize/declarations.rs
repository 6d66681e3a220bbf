//! What the words of signatures stand for: macros and names of types that the same text defines.

use std::collections::{BTreeMap, BTreeSet};

use super::target::Target;

/// The first name in the signatures of the kernels that stands for something else in the changed text.
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

/// A file that a change includes and that is not below the sources: what is in it could be read from the compiler's output.
pub(super) fn included_from_outside(old_text: &str, new_text: &str) -> Option<String> {
    let is_including = |line: &str| {
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ");
        ["include", "embed", "incbin", "__has_include", "import"].iter().any(|word| line.contains(word))
    };
    let known: BTreeSet<&str> = old_text.lines().map(str::trim).collect();
    let new = new_text.lines().map(str::trim).filter(|line| is_including(line) && !known.contains(line));
    let leaves =
        |line: &&str| line.contains("..") || line.contains("\"/") || line.contains("</") || !line.contains(['"', '<']);
    new.filter(leaves).map(str::to_owned).next()
}

/// The lines that define each name, in their order.
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
        // Also through another name, and by a macro with the name of a type.
        assert_eq!(changed(&TEXT.replace("typedef int", "typedef float")).as_deref(), Some("count_t"));
        assert_eq!(changed(&format!("#define float double\n{TEXT}")).as_deref(), Some("float"));
        assert_eq!(changed(&format!("#  define float double\n{TEXT}")).as_deref(), Some("float"));
        // What no signature needs may change.
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
        ] {
            assert!(outside(line).is_some(), "{line}");
        }
        assert_eq!(outside("#include \"mine.h\""), None);
        assert_eq!(outside("#include <math.h>"), None);
        assert_eq!(outside("int i = 0;"), None);
    }
}
