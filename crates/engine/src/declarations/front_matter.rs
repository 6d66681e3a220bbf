//! The comment lines at the head of a query file: what it is, what it needs and what it returns.

use serde::{Serialize, Serializer};

use super::plot::PlotDeclaration;
use crate::error::QueryError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// Whole number.
    Int,
    /// Number.
    Float,
    Str,
    Word,
}

/// Bounds of a number, both included.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Minimum.
    pub least: f64,
    /// Maximum.
    pub greatest: f64,
}

impl Bounds {
    /// Whether a value is within the bounds.
    pub fn contain(&self, value: f64) -> bool {
        (self.least..=self.greatest).contains(&value)
    }
}

/// A parameter of a query, given as `--name value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name in the template, with underscores.
    pub name: String,
    /// Type of its values.
    pub parameter_type: ParameterType,
    /// Default value.
    pub default: String,
    /// Bounds of a number, if it has any.
    pub bounds: Option<Bounds>,
    /// The words to choose from, for a word.
    pub words: Vec<String>,
    /// One line of documentation, including the bounds.
    pub doc: String,
}

impl Parameter {
    /// The documentation with the words to choose from.
    pub fn explained(&self) -> String {
        if self.words.is_empty() { self.doc.clone() } else { format!("{}: {}", self.doc, self.words.join(", ")) }
    }
}

/// Unit of a column of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    Nanoseconds,
    /// A point in time, in nanoseconds of a clock.
    Instant,
    /// Microseconds, whatever unit is requested.
    Microseconds,
    /// Milliseconds, whatever unit is requested.
    Milliseconds,
    Bytes,
    Percent,
    /// Number of things.
    Count,
    /// Number of no particular unit.
    Number,
    /// Identifier.
    Id,
    /// Name to be shortened in its middle.
    Name,
    /// Gigabytes (10⁹) per second.
    GigabytesPerSecond,
    Text,
}

impl ColumnUnit {
    /// The unit for a word in front matter or data files.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "ns" => Self::Nanoseconds,
            "us" => Self::Microseconds,
            "ms" => Self::Milliseconds,
            "bytes" => Self::Bytes,
            "pct" => Self::Percent,
            "count" => Self::Count,
            "number" => Self::Number,
            "id" => Self::Id,
            "name" => Self::Name,
            "gb_per_s" => Self::GigabytesPerSecond,
            "text" => Self::Text,
            _ => return None,
        })
    }

    /// Name of the unit in front matter and machine-readable documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nanoseconds | Self::Instant => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Bytes => "bytes",
            Self::Percent => "pct",
            Self::Count => "count",
            Self::Number => "number",
            Self::Id => "id",
            Self::Name => "name",
            Self::GigabytesPerSecond => "gb_per_s",
            Self::Text => "text",
        }
    }

    /// The unit that a column name implies, for undeclared columns.
    pub fn of_name(name: &str) -> Option<Self> {
        let suffixes = [
            ("_ns", Self::Nanoseconds),
            ("_us", Self::Microseconds),
            ("_ms", Self::Milliseconds),
            ("bytes", Self::Bytes),
            ("pct", Self::Percent),
            ("_name", Self::Name),
            ("_id", Self::Id),
            ("gb_per_s", Self::GigabytesPerSecond),
        ];
        suffixes.into_iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, unit)| unit)
    }
}

impl Serialize for ColumnUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputColumn {
    pub name: String,
    /// Unit of its values.
    pub unit: ColumnUnit,
    /// One line of documentation.
    pub doc: String,
}

impl OutputColumn {
    pub fn new(name: impl Into<String>, unit: ColumnUnit, doc: impl Into<String>) -> Self {
        Self { name: name.into(), unit, doc: doc.into() }
    }
}

/// Declarations of a query file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryDeclaration {
    /// A few words.
    pub title: String,
    /// One or two sentences.
    pub about: String,
    /// One of summary, trace, histogram, pace, heatmap, diff and health.
    pub kind: String,
    /// Tables it reads.
    pub needs: Vec<String>,
    /// Tables of which only sums are used: see [`Trace::frames_with_sums`].
    ///
    /// [`Trace::frames_with_sums`]: wavesieve_tables::trace::Trace::frames_with_sums
    pub sums: Vec<String>,
    /// Steps whose rows are the rows of each process, one process after the other. They may be computed from a few processes at a time.
    pub local: Vec<String>,
    /// The step with `process`, `origin_ns` and `length_ns`. The statement after it uses `gpu_segments` only for the time of each kind of
    /// work in intervals of this length, one after the other from the origin. Nothing starts before the origin.
    pub grid: Option<String>,
    /// The table without whose rows the answer has none either.
    pub only_with: Option<String>,
    /// Default grouping.
    pub by: Vec<String>,
    /// Columns it can be grouped by.
    pub dimensions: Vec<String>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Columns of the answer in order, with the default grouping.
    pub columns: Vec<OutputColumn>,
    /// Picture that its answer is drawn as.
    pub plot: Option<PlotDeclaration>,
}

/// Kinds a query may have.
const KINDS: &[&str] = &["summary", "trace", "histogram", "pace", "heatmap", "diff", "health"];

/// Tables that sums can replace.
const SUMMED: &[&str] = &["gpu_segments"];

/// Reads the front matter of a query file.
///
/// # Errors
/// [`QueryError::FrontMatter`] with the line that is wrong.
pub fn parse(file: &str, text: &str) -> Result<QueryDeclaration, QueryError> {
    let mut declaration = QueryDeclaration::default();
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        let Some(comment) = line.strip_prefix("-- ").or_else(|| (line == "--").then_some("")) else { break };
        last = index + 1;
        let wrong = |reason: String| QueryError::FrontMatter { file: file.to_owned(), line: index + 1, reason };
        let Some((key, value)) = comment.split_once(':') else {
            return Err(wrong("a front matter line is `-- key: value`".to_owned()));
        };
        let value = value.trim();
        match key.trim() {
            "title" => declaration.title = value.to_owned(),
            "about" => declaration.about = value.to_owned(),
            "kind" if KINDS.contains(&value) => declaration.kind = value.to_owned(),
            "kind" => return Err(wrong(format!("{value} is not a kind; choose one of {}", KINDS.join(", ")))),
            "needs" => declaration.needs = words(value),
            "sums" if words(value).iter().all(|table| SUMMED.contains(&table.as_str())) => {
                declaration.sums = words(value);
            }
            "sums" => return Err(wrong(format!("invalid sums: only {} can be summed", SUMMED.join(", ")))),
            "local" => declaration.local = words(value),
            "grid" => declaration.grid = Some(value.to_owned()),
            "only_with" if declaration.needs.iter().any(|table| table == value) => {
                declaration.only_with = Some(value.to_owned());
            }
            "only_with" => return Err(wrong(format!("{value} is not a table that the query needs"))),
            "by" => declaration.by = words(value),
            "plot" => declaration.plot = Some(PlotDeclaration::parse(value).map_err(wrong)?),
            "dimensions" => declaration.dimensions = words(value),
            "param" => declaration.parameters.push(parameter(value).map_err(wrong)?),
            "column" => declaration.columns.push(column(value).map_err(wrong)?),
            other => return Err(wrong(format!("{other} is not a front matter key; see docs/queries.md"))),
        }
    }
    for (key, missing) in [
        ("title", declaration.title.is_empty()),
        ("about", declaration.about.is_empty()),
        ("kind", declaration.kind.is_empty()),
        ("needs", declaration.needs.is_empty()),
        ("column", declaration.columns.is_empty()),
    ] {
        if missing {
            let reason = format!("the front matter lacks `-- {key}:`; add it");
            return Err(QueryError::FrontMatter { file: file.to_owned(), line: last.max(1), reason });
        }
    }
    let declares = |name: &str| declaration.columns.iter().any(|column| column.name == name);
    if let Some(unknown) = declaration.plot.as_ref().and_then(|plot| plot.unknown_column(declares)) {
        let reason = format!("plot column `{unknown}` is not in the result; choose another");
        return Err(QueryError::FrontMatter { file: file.to_owned(), line: last.max(1), reason });
    }
    Ok(declaration)
}

fn words(value: &str) -> Vec<String> {
    value.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// `NAME TYPE = DEFAULT -- doc`, for a number also `NAME TYPE = DEFAULT [LEAST, GREATEST] -- doc`, for a word `NAME word = DEFAULT [WORD, …] -- doc`
fn parameter(value: &str) -> Result<Parameter, String> {
    let shape = || {
        "a parameter is `NAME TYPE = DEFAULT [LEAST, GREATEST] -- doc`, TYPE one of int, float, str (and then without bounds), word (and then with words between the brackets)".to_owned()
    };
    let (declared, doc) = value.split_once("--").ok_or_else(shape)?;
    let (left, default) = declared.split_once('=').ok_or_else(shape)?;
    let mut left = left.split_whitespace();
    let (Some(name), Some(parameter_type), None) = (left.next(), left.next(), left.next()) else {
        return Err(shape());
    };
    let parameter_type = match parameter_type {
        "int" => ParameterType::Int,
        "float" => ParameterType::Float,
        "str" => ParameterType::Str,
        "word" => ParameterType::Word,
        _ => return Err(shape()),
    };
    let (name, mut doc) = (name.to_owned(), doc.trim().to_owned());
    if parameter_type == ParameterType::Word {
        let (default, list) = default.split_once('[').ok_or_else(shape)?;
        let words = words(list.trim().strip_suffix(']').ok_or_else(shape)?);
        let default = default.trim().to_owned();
        if !words.contains(&default) {
            return Err(format!("the default of {name} is not one of its words; change it"));
        }
        return Ok(Parameter { name, parameter_type, default, bounds: None, words, doc });
    }
    let Some((default, range)) = default.split_once('[').filter(|_| parameter_type != ParameterType::Str) else {
        return Ok(Parameter {
            name,
            parameter_type,
            default: default.trim().to_owned(),
            bounds: None,
            words: Vec::new(),
            doc,
        });
    };
    let default = default.trim().to_owned();
    let (least, greatest) = range.trim().strip_suffix(']').and_then(|range| range.split_once(',')).ok_or_else(shape)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| shape());
    let bounds = Bounds { least: number(least)?, greatest: number(greatest)? };
    if !bounds.contain(number(&default)?) {
        return Err(format!("the default of {name} is not within its bounds; change one of them"));
    }
    doc = format!("{doc}, {} to {}", bounds.least, bounds.greatest);
    Ok(Parameter { name, parameter_type, default, bounds: Some(bounds), words: Vec::new(), doc })
}

/// `NAME UNIT -- doc`
fn column(value: &str) -> Result<OutputColumn, String> {
    let shape = || {
        "a column is `NAME UNIT -- doc`, UNIT one of ns, us, ms, bytes, pct, count, number, id, name, gb_per_s, text"
            .to_owned()
    };
    let (declared, doc) = value.split_once("--").ok_or_else(shape)?;
    let mut declared = declared.split_whitespace();
    let (Some(name), Some(unit), None) = (declared.next(), declared.next(), declared.next()) else {
        return Err(shape());
    };
    let unit = ColumnUnit::parse(unit).ok_or_else(shape)?;
    Ok(OutputColumn { name: name.to_owned(), unit, doc: doc.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "-- title: T\n-- about: A: b\n-- kind: summary\n-- needs: kernels processes\n";

    #[test]
    fn a_whole_head() {
        let text = format!(
            "{HEAD}-- by: rank, gpu\n-- param: top int = 0 -- how many\n-- column: total_ns ns -- sum\nSELECT 1 -- x"
        );
        let declaration = parse("q.sql", &text).unwrap();
        assert_eq!(declaration.about, "A: b");
        assert_eq!(declaration.needs, ["kernels", "processes"]);
        assert_eq!(declaration.by, ["rank", "gpu"]);
        assert_eq!(declaration.parameters[0].default, "0");
        assert_eq!(declaration.columns[0].unit, ColumnUnit::Nanoseconds);
    }

    #[test]
    fn bounds_are_part_of_the_documentation() {
        let parameter = parameter("bins int = 100 [1, 10000] -- number of bins").unwrap();
        assert_eq!(parameter.default, "100");
        assert_eq!(parameter.bounds, Some(Bounds { least: 1.0, greatest: 10_000.0 }));
        assert_eq!(parameter.doc, "number of bins, 1 to 10000");
        for wrong in ["bins int = 0 [1, 2] -- b", "bins int = 1 [1 2] -- b", "bins int = 1 [1, 2 -- b"] {
            assert!(super::parameter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let error = parse("q.sql", &format!("{HEAD}-- column: total_ns -- sum\n")).unwrap_err();
        assert!(error.to_string().starts_with("q.sql:5: a column is"), "{error}");
        let error = parse("q.sql", HEAD).unwrap_err();
        assert_eq!(error.to_string(), "q.sql:4: the front matter lacks `-- column:`; add it");
    }
}
