//! The words of a name, which distinguish it from others with the same readable form.

use crate::analysis::kernel_names::is_mangled;
use crate::analysis::kernel_names::pieces::is_word;
use crate::analysis::kernel_names::readable::arguments::{number, scalar};
use crate::analysis::kernel_names::readable::plain;

/// Words of a name at most.
const MAX_WORDS: usize = 600;

/// The words of a name in the order in which they distinguish: those of arguments, of parameters, the function, and at
/// last namespaces and the mark of a kernel descriptor.
pub(super) fn words(name: &str) -> Vec<String> {
    let plain = plain(name);
    let mut found = if is_mangled(&plain) {
        Vec::new()
    } else if plain.contains(|character: char| !is_word(character)) {
        of_function(&plain)
    } else {
        of_list(&plain)
    };
    if name.trim_end_matches([')', ']']).ends_with(".kd") {
        found.push(".kd".to_owned());
    }
    found
}

fn of_function(plain: &str) -> Vec<String> {
    let (mut kept, mut namespaces) = (Vec::new(), Vec::new());
    let mut function = None;
    let mut rest = plain;
    while kept.len() + namespaces.len() < MAX_WORDS {
        rest = rest.trim_start_matches(|character| !is_word(character));
        let length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        let Some((word, behind)) = rest.split_at_checked(length).filter(|(word, _)| !word.is_empty()) else { break };
        let short = || scalar(word).or_else(|| number(word).map(str::to_owned)).unwrap_or_else(|| word.to_owned());
        match word {
            "const" | "void" | "operator" => {}
            _ if behind.starts_with("::") => namespaces.push(word.to_owned()),
            _ if kept.is_empty() && function.is_none() => function = Some(word.to_owned()),
            _ => kept.push(short()),
        }
        rest = behind;
    }
    kept.extend(function);
    kept.append(&mut namespaces);
    kept
}

/// Words between underscores; a number belongs to the word before it. Tensile's layouts are written as in BLAS.
fn of_list(plain: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in plain.split('_').filter(|part| !part.is_empty()).take(MAX_WORDS) {
        match (part, found.last_mut()) {
            ("Bljk" | "Bjlk", Some(last)) if last == "Ailk" || last == "Alik" => {
                let letter = |is_plain: bool| if is_plain { 'N' } else { 'T' };
                *last = [letter(last == "Ailk"), letter(part == "Bljk")].iter().collect();
            }
            (_, Some(last)) if part.starts_with(|digit: char| digit.is_ascii_digit()) => {
                last.push('_');
                last.push_str(part);
            }
            _ => found.push(part.to_owned()),
        }
    }
    found
}
