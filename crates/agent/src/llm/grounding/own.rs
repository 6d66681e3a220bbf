//! Checks the statements and columns in commands of this program whose options are valid.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{ObjectName, ObjectNamePart, Query, Visit, Visitor};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use wavesieve_engine::{NUMBERS, QueryError, QueryOptions, Registry, catalog, is_query, is_too_deep, render};
use wavesieve_model::schema;

const UNREAD: &str = "its statement is in a file, which is not looked at";

/// The reason why a command with valid options cannot run, without its inputs.
pub(super) fn cannot_run(words: &[String], registry: Option<&Registry>) -> Option<String> {
    let mut rest = words.iter().skip(1).map(String::as_str).skip_while(|word| word.starts_with('-'));
    let verb = rest.next()?;
    let rest: Vec<&str> = rest.collect();
    match verb {
        "sql" => of_sql(&rest),
        "table" => of_table(&rest, registry?),
        _ => None,
    }
}

fn of_sql(words: &[&str]) -> Option<String> {
    if words.iter().any(|word| *word == "--file" || word.starts_with("--file=")) {
        return Some(UNREAD.to_owned());
    }
    // A statement has blanks, which other option values seldom have.
    let pairs = std::iter::once("").chain(words.iter().copied()).zip(words.iter().copied());
    let mut pairs = pairs.map(|(before, word)| (!before.starts_with("--"), word));
    let statement = pairs.find(|(is_own, word)| *is_own && word.contains(char::is_whitespace));
    let statement =
        statement.map(|(_, word)| word).or_else(|| words.iter().find(|word| !word.starts_with('-')).copied());
    let statement = statement.filter(|word| !word.eq_ignore_ascii_case("query"))?;
    if statement == "-" || statement.ends_with(".sql") {
        return Some(UNREAD.to_owned());
    }
    match catalog(statement) {
        Ok(Some(_)) => return None,
        Ok(None) => {}
        Err(error) => return Some(error.to_string()),
    }
    if !is_query(statement) {
        return Some("its statement is not a SELECT".to_owned());
    }
    // Names of AMD's tables stand for other tables.
    let is_own = !words.iter().any(|word| word.ends_with("rocpd"));
    if is_own { of_statement(statement) } else { None }
}

/// The tables that a statement reads, and the tables that it defines itself.
#[derive(Default)]
struct Tables {
    read: BTreeSet<String>,
    made: BTreeSet<String>,
}

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let made = query.with.iter().flat_map(|with| &with.cte_tables);
        self.made.extend(made.map(|table| table.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        if let Some(ObjectNamePart::Identifier(word)) = name.0.last() {
            self.read.insert(word.value.to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

fn of_statement(sql: &str) -> Option<String> {
    let parsed = Some(sql).filter(|sql| !is_too_deep(sql)).map(|sql| Parser::parse_sql(&GenericDialect {}, sql));
    let Some(Ok(statements)) = parsed.filter(|parsed| parsed.as_ref().is_ok_and(|all| all.len() == 1)) else {
        return Some("its statement is not understood".to_owned());
    };
    let mut tables = Tables::default();
    if statements.visit(&mut tables).is_break() {
        return None;
    }
    let is_known = |name: &&String| schema::table(name).is_some() || *name == NUMBERS || tables.made.contains(*name);
    let unknown = tables.read.iter().find(|name| !is_known(name))?;
    Some(format!("there is no table {unknown}"))
}

fn of_table(words: &[&str], registry: &Registry) -> Option<String> {
    let named = words.iter().find(|word| !word.starts_with('-'))?;
    let listed = |name: &str| {
        let joined = |word: &&str| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let value = words.iter().find_map(joined).or_else(|| {
            let place = words.iter().position(|word| *word == name)?;
            words.get(place + 1).map(|word| (*word).to_owned())
        });
        let columns = value?.split(',').filter(|column| !column.is_empty()).map(ToOwned::to_owned).collect::<Vec<_>>();
        Some(columns)
    };
    let options = QueryOptions {
        by: listed("--by"),
        columns: listed("--columns").filter(|columns| !columns.is_empty()),
        ..QueryOptions::default()
    };
    named.split(',').find_map(|name| {
        let rendered = registry.get(name).and_then(|query| render(query, &options).map(|_| ()));
        let is_of_it = |error: &QueryError| {
            matches!(error, QueryError::NoSuchQuery { .. } | QueryError::Column { .. } | QueryError::Grouping { .. })
        };
        rendered.err().filter(is_of_it).map(|error| error.to_string())
    })
}
