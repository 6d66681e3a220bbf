//! Checks whether a change keeps a kernel's signature.

use super::model::{Parameter, SourceKernel, Template};

/// The first difference that affects callers of a kernel: name, scope, linkage, template parameters, and types, order
/// and qualifiers of its parameters. Names of parameters, attributes, launch bounds, and qualifiers of a parameter
/// itself (`const int n`, `float *__restrict__ x`) may differ.
pub fn signature_difference(old: &SourceKernel, new: &SourceKernel) -> Option<String> {
    let shown =
        |kernel: &SourceKernel| kernel.scopes.iter().chain([&kernel.name]).cloned().collect::<Vec<_>>().join("::");
    let is_static = |kernel: &SourceKernel| kernel.qualifiers.iter().any(|word| word == "static");
    if shown(old) != shown(new) {
        return Some(format!("it is {} instead of {}", shown(new), shown(old)));
    }
    if old.is_c != new.is_c {
        return Some(if new.is_c { "it is extern \"C\" now" } else { "it is no longer extern \"C\"" }.to_owned());
    }
    if is_static(old) != is_static(new) {
        return Some(if is_static(new) { "it is static now" } else { "it is no longer static" }.to_owned());
    }
    if let Some(difference) = template_difference(old.template.as_ref(), new.template.as_ref()) {
        return Some(difference);
    }
    if old.parameters.len() != new.parameters.len() {
        return Some(format!("it has {} instead of {}", counted(&new.parameters), counted(&old.parameters)));
    }
    old.parameters.iter().zip(&new.parameters).enumerate().find_map(|(number, (old, new))| {
        parameter_difference(old, new).map(|difference| {
            let name = old.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            format!("parameter {}{name} {difference}", number + 1)
        })
    })
}

fn counted(parameters: &[Parameter]) -> String {
    match parameters.len() {
        1 => "1 parameter".to_owned(),
        other => format!("{other} parameters"),
    }
}

fn template_difference(old: Option<&Template>, new: Option<&Template>) -> Option<String> {
    let (old, new) = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => return Some("it is a template now".to_owned()),
        (Some(_), None) => return Some("it is no longer a template".to_owned()),
        (Some(old), Some(new)) => (old, new),
    };
    let shown = |template: &Template| format!("<{}>", template.parameters.join(", "));
    if old.kinds != new.kinds {
        return Some(format!("its template parameters are {} instead of {}", shown(new), shown(old)));
    }
    let none = || "none".to_owned();
    if old.arguments != new.arguments {
        let [new, old] = [new, old].map(|one| one.arguments.clone().map_or_else(none, |all| format!("<{all}>")));
        return Some(format!("its template arguments are {new} instead of {old}"));
    }
    (old.constraint != new.constraint).then(|| {
        let [new, old] = [new, old].map(|one| one.constraint.clone().unwrap_or_else(none));
        format!("its constraint is {new} instead of {old}")
    })
}

fn parameter_difference(old: &Parameter, new: &Parameter) -> Option<String> {
    if old.kind != new.kind {
        return Some(format!("is {} instead of {}", new.written, old.written));
    }
    let shown = |default: &Option<String>| default.clone().unwrap_or_else(|| "none".to_owned());
    (old.default != new.default)
        .then(|| format!("has the default {} instead of {}", shown(&new.default), shown(&old.default)))
}
