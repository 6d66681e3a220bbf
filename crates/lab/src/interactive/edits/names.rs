//! File names in patches.

/// A name in the form of git: quoted if it has a quote, a backslash or a control character.
pub(super) fn quoted(name: &str) -> String {
    if !name.chars().any(|sign| sign.is_ascii_control() || matches!(sign, '"' | '\\')) {
        return name.to_owned();
    }
    let mut shown = String::from("\"");
    for sign in name.chars() {
        match sign {
            '"' | '\\' => shown.extend(['\\', sign]),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            sign if sign.is_ascii_control() => shown.push_str(&format!("\\{:03o}", u32::from(sign))),
            sign => shown.push(sign),
        }
    }
    shown.push('"');
    shown
}

/// A name at the start of a text, with or without quotes, and the text after it. Without quotes it ends at a tab.
pub(super) fn name_at_start(text: &str) -> Option<(String, &str)> {
    match text.strip_prefix('"') {
        Some(inside) => unquoted(inside),
        None => Some(match text.split_once('\t') {
            Some((name, rest)) => (name.to_owned(), rest),
            None => (text.to_owned(), ""),
        }),
    }
}

/// Both names of a line `diff --git`. Without quotes they have the same length: only renamed files have different
/// names, and their names have separate lines.
pub(super) fn both_names(text: &str) -> Option<(String, String)> {
    if text.starts_with('"') {
        let (old, rest) = name_at_start(text)?;
        let (new, _) = name_at_start(rest.strip_prefix(' ')?)?;
        return Some((old, new));
    }
    if text.len().is_multiple_of(2) {
        return None;
    }
    let (old, new) = text.split_at_checked(text.len() / 2)?;
    Some((old.to_owned(), new.strip_prefix(' ')?.to_owned()))
}

fn unquoted(inside: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut signs = inside.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return Some((String::from_utf8(bytes).ok()?, inside.get(at + 1..)?)),
            '\\' => bytes.push(match signs.next()?.1 {
                'a' => 7,
                'b' => 8,
                't' => b'\t',
                'n' => b'\n',
                'v' => 11,
                'f' => 12,
                'r' => b'\r',
                first @ '0'..='3' => {
                    let octal: String = [first, signs.next()?.1, signs.next()?.1].iter().collect();
                    u8::from_str_radix(&octal, 8).ok()?
                }
                sign @ ('"' | '\\') => u8::try_from(sign).ok()?,
                _ => return None,
            }),
            sign => bytes.extend(sign.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    None
}

/// Both names without the folders that git adds before them; `from_git` are the names of the line `diff --git`.
pub(super) fn without_prefixes<'a>(
    old: Option<&'a str>,
    new: Option<&'a str>,
    from_git: Option<&(String, String)>,
) -> (Option<&'a str>, Option<&'a str>) {
    let cut = |name: &'a str| {
        let (first, rest) = name.split_once('/')?;
        (matches!(first, "a" | "b" | "c" | "i" | "o" | "w") && !rest.is_empty()).then_some((first, rest))
    };
    match (old, new) {
        (Some(old), Some(new)) => match (cut(old), cut(new)) {
            (Some((first, old)), Some((second, new))) if first != second => (Some(old), Some(new)),
            _ => (Some(old), Some(new)),
        },
        // `--no-prefix` makes both names the same.
        _ if from_git.is_some_and(|(old, new)| old == new) => (old, new),
        _ => {
            let short = |name: Option<&'a str>| name.map(|name| cut(name).map_or(name, |(_, rest)| rest));
            (short(old), short(new))
        }
    }
}
