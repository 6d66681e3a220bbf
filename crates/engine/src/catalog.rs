//! Statements that list tables and columns.

use polars::prelude::{Column, DataFrame};
use sqlparser::dialect::GenericDialect;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::declarations::{ColumnUnit, OutputColumn};
use super::error::QueryError;
use super::rocpd_names::described as rocpd_names;
use super::run::Answer;
use wavesieve_model::schema::{Table, table, tables};
use wavesieve_model::text::similar::closest;

/// The answer of `SHOW TABLES` and `DESCRIBE table`, which need no input; `None` for other statements.
///
/// # Errors
/// When no table has the name.
pub fn catalog(sql: &str) -> Result<Option<Answer>, QueryError> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let words: Vec<String> = tokens
        .into_iter()
        .filter_map(|token| match token {
            Token::Whitespace(_) | Token::SemiColon => None,
            Token::Word(word) => Some(word.value.to_lowercase()),
            other => Some(other.to_string()),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["show", "tables"] | ["show", "all", "tables"] => listed().map(Some),
        ["describe" | "desc" | "show", name] | ["show", "columns", "from", name] | ["describe", "table", name] => {
            let table = table(name).ok_or_else(|| {
                let closest = closest(name, tables().iter().map(|table| table.name));
                let hint = closest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
                QueryError::Sql { reason: format!("unknown table {name}{hint}") }
            })?;
            described(table).map(Some)
        }
        _ => Ok(None),
    }
}

fn listed() -> Result<Answer, QueryError> {
    let of = |text: fn(&Table) -> &str| tables().iter().map(|table| text(table)).collect::<Vec<_>>();
    let of_amd: Vec<(&str, String)> = rocpd_names().collect();
    let names = of(|table| table.name).into_iter().chain(of_amd.iter().map(|(name, _)| *name));
    let abouts = of(|table| table.about).into_iter().chain(of_amd.iter().map(|(_, about)| about.as_str()));
    let dialects = tables().iter().map(|_| "wavesieve").chain(of_amd.iter().map(|_| "rocpd"));
    answer(&[("name", names.collect()), ("dialect", dialects.collect()), ("about", abouts.collect())])
}

fn described(table: &Table) -> Result<Answer, QueryError> {
    let columns = table.columns;
    answer(&[
        ("column_name", columns.iter().map(|column| column.name).collect()),
        ("column_type", columns.iter().map(|column| column.column_type.name()).collect()),
        ("null", columns.iter().map(|column| if column.nullable { "YES" } else { "NO" }).collect()),
        ("unit", columns.iter().map(|column| column.unit.name()).collect()),
        ("about", columns.iter().map(|column| column.doc).collect()),
    ])
}

fn answer(columns: &[(&str, Vec<&str>)]) -> Result<Answer, QueryError> {
    let made = columns.iter().map(|(name, texts)| Column::new((*name).into(), texts));
    let frame = DataFrame::new_infer_height(made.collect()).map_err(anyhow::Error::from)?;
    let column = |name: &str| OutputColumn { name: name.to_owned(), unit: ColumnUnit::Text, doc: String::new() };
    let columns = columns.iter().map(|(name, _)| column(name)).collect();
    Ok(Answer { frame, columns, is_readable: false })
}
