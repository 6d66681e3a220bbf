//! Matches traced names with the kernels of a source.

use super::model::SourceKernel;
use super::pieces::{Piece, close, joined, pieces, split, text};
use super::types::parameter;
use crate::objects::demangled;
use crate::scan::c_lexer::lex;
use crate::scan::text::Text;
use wavesieve_model::analysis::kernel_names::{base_name, mangled_base, short_name, strip_kd};

/// The kernels that a name in a trace or code object may refer to, mangled or not: kernels with the same name in the
/// same scopes and, if there are several, with matching parameters.
pub fn named<'a>(kernels: &'a [SourceKernel], traced: &str) -> Vec<&'a SourceKernel> {
    let traced = strip_kd(traced);
    let display = demangled(traced).unwrap_or_else(|| traced.to_owned());
    let base = mangled_base(&display).map_or_else(|| base_name(&display), str::to_owned);
    let base = base.split('<').next().unwrap_or_default();
    let mut found: Vec<&SourceKernel> = kernels.iter().filter(|kernel| kernel.name == base).collect();
    let scopes = scopes(&display);
    narrow(&mut found, |kernel| kernel.scopes == scopes);
    let words = words(&display);
    if let Some(arguments) = template_arguments(&words, base) {
        let is_special = |kernel: &SourceKernel| {
            let own = kernel.template.as_ref().and_then(|template| template.arguments.as_ref());
            own.is_some_and(|own| same_words(own, &arguments))
        };
        narrow(&mut found, is_special);
        // The kernels with arguments are then specializations for other arguments.
        if !found.iter().any(|kernel| is_special(kernel)) {
            narrow(&mut found, |kernel| kernel.template.as_ref().is_some_and(|template| template.arguments.is_none()));
        }
    }
    if found.len() > 1
        && let Some(kinds) = parameter_kinds(&words)
    {
        narrow(&mut found, |kernel| {
            kernel.parameters.len() == kinds.len() || kernel.parameters.iter().any(|own| own.kind.ends_with("..."))
        });
        narrow(&mut found, |kernel| kernel.parameters.iter().zip(&kinds).all(|(own, kind)| may_be(&own.kind, kind)));
    }
    found
}

/// Keeps the kernels that meet a condition, or all if none does.
fn narrow(found: &mut Vec<&SourceKernel>, meets: impl Fn(&SourceKernel) -> bool) {
    if found.iter().any(|kernel| meets(kernel)) {
        found.retain(|kernel| meets(kernel));
    }
}

fn words(display: &str) -> Vec<Piece> {
    let text = Text::new(display.as_bytes());
    pieces(&text.bytes, &lex(&text).code)
}

/// The scopes of a name, in the form of a kernel's scopes.
fn scopes(display: &str) -> Vec<String> {
    let short = short_name(display).replace("(anonymous namespace)", "(anonymous)").replace("<...>", "");
    let mut scopes: Vec<String> = short.split("::").map(str::to_owned).collect();
    scopes.pop();
    scopes
}

fn same_words(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
    bare(one) == bare(other)
}

/// The text in the angle brackets after the name.
fn template_arguments(words: &[Piece], base: &str) -> Option<String> {
    let mut at = 0;
    while at < words.len() {
        if text(words, at + 1) == "<" && words.get(at).is_some_and(Piece::is_word) {
            let end = close(words, at + 1)?;
            if text(words, at) == base && text(words, end + 1) != "::" {
                return Some(joined(words.get(at + 2..end)?));
            }
            at = end;
        }
        at += 1;
    }
    None
}

/// The types in the last parentheses of a name, in the normalized spelling.
fn parameter_kinds(words: &[Piece]) -> Option<Vec<String>> {
    let open =
        (0..words.len()).find(|at| text(words, *at) == "(" && close(words, *at) == words.len().checked_sub(1))?;
    let inner = words.get(open + 1..words.len() - 1)?;
    Some(split(inner, ",").into_iter().map(|one| parameter(one, &[]).kind).collect())
}

/// Returns whether a type in a source, which may lack scopes or depend on a template, matches a type in a name.
fn may_be(own: &str, named: &str) -> bool {
    own.contains('$') || own.contains("...") || without_scopes(own) == without_scopes(named)
}

/// Turns `const a::P*` into `const P*`.
fn without_scopes(kind: &str) -> String {
    let mut kept = String::new();
    let mut rest = kind;
    while let Some((before, after)) = rest.split_once("::") {
        kept += before.trim_end_matches(|character: char| character.is_alphanumeric() || character == '_');
        rest = after;
    }
    kept + rest
}
