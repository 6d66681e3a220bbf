//! Properties that the parser of front matter promises for any text.

use std::fmt::Write as _;

use super::declarations::{ParameterType, QueryDeclaration, parse};

/// Checks that front matter is read or refused with its line, and that the declaration can be written and read again.
pub fn front_matter(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().count().max(1);
    match parse("query.sql", &text) {
        Ok(declaration) => {
            let written = written(&declaration);
            let again = parse("query.sql", &written);
            assert!(again.as_ref().is_ok_and(|again| *again == without_bounds(&declaration)), "{written}: {again:?}");
        }
        Err(error) => {
            let message = error.to_string();
            let line =
                message.strip_prefix("query.sql:").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
            assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{message}");
        }
    }
}

/// Removes bounds: the documentation of a parameter already contains them, and reading it again would add them twice.
fn without_bounds(declaration: &QueryDeclaration) -> QueryDeclaration {
    let mut declaration = declaration.clone();
    for parameter in &mut declaration.parameters {
        if parameter.bounds.take().is_some() && parameter.default.contains('[') {
            parameter.default.clear();
        }
    }
    declaration
}

fn written(declaration: &QueryDeclaration) -> String {
    let mut text = String::new();
    for (key, value) in [("title", &declaration.title), ("about", &declaration.about), ("kind", &declaration.kind)] {
        let _ = writeln!(text, "-- {key}: {value}");
    }
    let lists = [
        ("needs", &declaration.needs),
        ("sums", &declaration.sums),
        ("local", &declaration.local),
        ("by", &declaration.by),
        ("dimensions", &declaration.dimensions),
    ];
    for (key, words) in lists {
        let _ = writeln!(text, "-- {key}: {}", words.join(", "));
    }
    if let Some(grid) = &declaration.grid {
        let _ = writeln!(text, "-- grid: {grid}");
    }
    if let Some(table) = &declaration.only_with {
        let _ = writeln!(text, "-- only_with: {table}");
    }
    if let Some(plot) = &declaration.plot {
        let _ = writeln!(text, "-- plot: {plot}");
    }
    for parameter in &declaration.parameters {
        let word = match parameter.parameter_type {
            ParameterType::Int => "int",
            ParameterType::Float => "float",
            ParameterType::Str => "str",
            ParameterType::Word => "word",
        };
        let default = match parameter.parameter_type {
            ParameterType::Word => format!("{} [{}]", parameter.default, parameter.words.join(", ")),
            _ => parameter.default.clone(),
        };
        let _ = writeln!(text, "-- param: {} {word} = {default} -- {}", parameter.name, parameter.doc);
    }
    for column in &declaration.columns {
        let _ = writeln!(text, "-- column: {} {} -- {}", column.name, column.unit.word(), column.doc);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::front_matter;
    use crate::Registry;

    #[test]
    fn our_own_queries_keep_the_promise() {
        for query in Registry::builtin().unwrap().iter() {
            front_matter(query.text.as_bytes());
        }
    }
}
