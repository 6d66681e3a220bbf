//! The picture that an answer is drawn as, and its columns: `bars label=kernel_name value=total_ns`.

use std::fmt;

/// Kinds of pictures: name, roles that columns must have in them, roles that columns may have.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("bars", &["label", "value"], &["role"]),
    ("ranked", &["label", "value"], &["role"]),
    ("categories", &["label", "value"], &[]),
    ("pareto", &["label", "value"], &["role", "share"]),
    ("stacked", &["label", "parts"], &[]),
    ("stacked_by", &["label", "part", "value"], &[]),
    ("histogram", &["from", "to", "count"], &["scale"]),
    ("heatmap", &["row", "bin", "value"], &["from", "to", "length"]),
    ("gauges", &["label", "achieved", "theoretical"], &[]),
    ("pace", &["line", "x", "y"], &[]),
    ("steps", &["line", "x", "y"], &[]),
    ("roofline", &[], &[]),
];

/// The placeholder for the columns that an answer is grouped by.
pub const GROUPING: &str = "by";

/// A picture of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlotDeclaration {
    pub kind: String,
    /// Roles, each with one or more columns.
    pub roles: Vec<(String, Vec<String>)>,
}

impl PlotDeclaration {
    /// Reads `KIND ROLE=COLUMN …`; several columns have commas between them.
    ///
    /// # Errors
    /// When the text is not a picture. The message states what to do.
    pub fn parse(value: &str) -> Result<Self, String> {
        let mut words = value.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let Some((_, needed, allowed)) = KINDS.iter().find(|(name, ..)| *name == kind) else {
            let names: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
            return Err(format!("{kind} is not a picture; choose one of {}", names.join(", ")));
        };
        let mut roles: Vec<(String, Vec<String>)> = Vec::new();
        for word in words {
            let Some((role, columns)) = word.split_once('=') else {
                return Err(format!("invalid `{word}`: expected ROLE=COLUMN; a picture is `KIND ROLE=COLUMN …`"));
            };
            if !needed.contains(&role) && !allowed.contains(&role) {
                let known: Vec<&str> = needed.iter().chain(*allowed).copied().collect();
                return Err(format!("{kind} has no {role}; choose one of {}", known.join(", ")));
            }
            if roles.iter().any(|(other, _)| other == role) {
                return Err(format!("{role} is there twice; leave one"));
            }
            let columns: Vec<String> =
                columns.split(',').filter(|column| !column.is_empty()).map(str::to_owned).collect();
            if columns.is_empty() {
                return Err(format!("{role} has no column; add one"));
            }
            roles.push((role.to_owned(), columns));
        }
        match needed.iter().find(|needed| !roles.iter().any(|(role, _)| role == *needed)) {
            Some(lacking) => Err(format!("{kind} lacks {lacking}=COLUMN; add it")),
            None => Ok(Self { kind: kind.to_owned(), roles }),
        }
    }

    /// The columns of a role; a part of stacked bars may have the role of its color after a colon.
    pub fn columns(&self, role: &str) -> &[String] {
        self.roles.iter().find(|(name, _)| name == role).map(|(_, columns)| columns.as_slice()).unwrap_or_default()
    }

    /// The column of a role that has one.
    pub fn column(&self, role: &str) -> Option<&str> {
        self.columns(role).first().map(String::as_str)
    }

    /// A column that the picture needs and that is not `known`.
    pub fn unknown_column(&self, known: impl Fn(&str) -> bool) -> Option<&str> {
        let free = ["role", "scale"];
        let named =
            self.roles.iter().filter(|(role, _)| !free.contains(&role.as_str())).flat_map(|(_, columns)| columns);
        named
            .map(|column| column.split_once(':').map_or(column.as_str(), |(name, _)| name))
            .find(|column| *column != GROUPING && !known(column))
    }
}

impl fmt::Display for PlotDeclaration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.kind)?;
        for (role, columns) in &self.roles {
            write!(formatter, " {role}={}", columns.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_read_and_written() {
        let text = "stacked label=by parts=busy_ns:compute,idle_ns";
        let plot = PlotDeclaration::parse(text).unwrap();
        assert_eq!(plot.to_string(), text);
        assert_eq!(plot.columns("parts"), ["busy_ns:compute", "idle_ns"]);
        assert_eq!(plot.unknown_column(|column| column == "busy_ns"), Some("idle_ns"));
        assert_eq!(PlotDeclaration::parse("roofline").unwrap().to_string(), "roofline");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, reason) in [
            ("pie label=a", "pie is not a picture"),
            ("bars label", "invalid `label`: expected ROLE=COLUMN"),
            ("bars label=a", "bars lacks value=COLUMN"),
            ("bars label=a x=b", "bars has no x"),
            ("bars label=a label=b", "label is there twice"),
            ("bars label=, value=b", "label has no column"),
        ] {
            let error = PlotDeclaration::parse(text).unwrap_err();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}
