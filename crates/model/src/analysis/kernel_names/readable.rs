//! Names that people can read: what a kernel does, its types and its tile, without namespaces and machinery.
//!
//! The readable form is presentation only: it neither identifies a kernel nor groups rows. `share/readable_names.toml`
//! has the facts. Every function here is total; names are hostile, so that nesting is followed a few levels only.

mod arguments;
mod facts;
mod functions;
mod names;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use crate::analysis::kernel_names::readable::facts::facts;
use crate::analysis::kernel_names::strip_kd;
use crate::text::demangle::demangled;

pub use crate::analysis::kernel_names::readable::names::{ReadableNames, is_readable_form, kernels_in_row};

/// Shortest name of Inductor that loses its views.
const LONG_FUSION: usize = 48;

/// Characters of the longest form, and those that stay at its end.
const LONGEST_FORM: usize = 300;
const LONGEST_END: usize = 80;

/// The readable form of a name by itself. Different kernels may have the same one: see [`ReadableNames`].
fn readable(name: &str) -> String {
    let plain = plain(name);
    let by_rule = |text: &str| facts().rules.iter().find_map(|rule| rule.apply(text));
    let shown = by_rule(&plain).or_else(|| fusion(&plain)).or_else(|| functions::readable(&plain, &by_rule));
    bounded(shown.filter(|shown| !shown.trim().is_empty()).unwrap_or_else(|| plain.into_owned()))
}

/// A form without its middle, if it is longer than people read.
fn bounded(form: String) -> String {
    let Some((cut, _)) = form.char_indices().nth(LONGEST_FORM - LONGEST_END) else { return form };
    let Some(rest) = form.get(cut..).filter(|rest| rest.chars().nth(LONGEST_END).is_some()) else { return form };
    let end: Vec<char> = rest.chars().rev().take(LONGEST_END).collect();
    form.chars().take(LONGEST_FORM - LONGEST_END).chain(['…']).chain(end.into_iter().rev()).collect()
}

/// The name without marks of kernel descriptors, demangled if it can be.
fn plain(name: &str) -> Cow<'_, str> {
    let bare = strip_kd(name);
    let bare = bare.strip_suffix(" (.kd)").filter(|rest| !rest.trim().is_empty()).map_or(bare, strip_kd);
    let mangled = bare.split_once(".intern.").map_or(bare, |(mangled, _)| mangled);
    demangled(mangled).map_or(Cow::Borrowed(bare), Cow::Owned)
}

/// A long name of Inductor without the operations that only look at a tensor in another way.
fn fusion(name: &str) -> Option<String> {
    let (head, body) = name.split_once("_fused_").filter(|(head, _)| head.starts_with("triton_"))?;
    let (body, number) = body.rsplit_once('_').filter(|_| name.len() > LONG_FUSION)?;
    let mut kept = format!("_{body}_");
    for view in &facts().words.views {
        let part = format!("_{view}_");
        while kept.contains(&part) {
            kept = kept.replace(&part, "_");
        }
    }
    let kept = kept.strip_prefix('_')?.strip_suffix('_')?;
    (!kept.is_empty()).then(|| format!("{head}_fused_{kept}_{number}"))
}
