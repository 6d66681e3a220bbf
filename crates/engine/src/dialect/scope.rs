//! Meanings of the names in a statement: the tables and columns that each part of it sees.

use std::collections::BTreeSet;

use sqlparser::ast::{Expr, Ident};

use super::types::Number;
use crate::units::Meaning;
use wavesieve_model::schema;
use wavesieve_model::schema::Table;

/// A column that a part of a statement sees or returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub meaning: Meaning,
    pub number: Number,
}

/// A table, common table expression or subquery in a FROM clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relation {
    /// Name by which its columns are qualified; empty if it has none.
    pub name: String,
    /// Its columns; `None` if they are not known.
    pub columns: Option<Vec<Column>>,
    /// Columns that `*` leaves out, because a join by USING has them once.
    pub hidden: Vec<String>,
}

impl Relation {
    /// Whether `*` includes a column of it with that name.
    pub fn shows(&self, name: &str) -> bool {
        let is_hidden = self.hidden.iter().any(|hidden| hidden.eq_ignore_ascii_case(name));
        !is_hidden && self.columns.iter().flatten().any(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// The relations that a SELECT reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    pub relations: Vec<Relation>,
    /// Columns of a join by USING whose left side may be missing, and their expressions.
    pub merged: Vec<(String, Expr)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NameMeaning<'a> {
    Column(&'a Relation, &'a Column),
    /// Unknown: it may be a column of a relation whose columns are not known.
    Unknown,
    /// No column of any relation.
    Nothing,
}

impl Scope {
    /// Whether the columns of all relations are known.
    pub fn is_known(&self) -> bool {
        self.relations.iter().all(|relation| relation.columns.is_some())
    }

    /// A column that every row has.
    pub(crate) fn any_column(&self) -> Option<Expr> {
        self.column_but(&BTreeSet::new())
    }

    /// A column that every row has, with none of these names, which are in lower case.
    pub(crate) fn column_but(&self, names: &BTreeSet<String>) -> Option<Expr> {
        let columns = self.relations.iter().flat_map(|of| of.columns.iter().flatten().map(move |column| (of, column)));
        let (relation, column) =
            columns.into_iter().find(|(_, column)| !names.contains(&column.name.to_lowercase()))?;
        let name = Ident::with_quote('"', &column.name);
        Some(if relation.name.is_empty() {
            Expr::Identifier(name)
        } else {
            Expr::CompoundIdentifier(vec![Ident::with_quote('"', &relation.name), name])
        })
    }

    /// Meaning of an unqualified name that a join has once for both sides.
    pub fn merged(&self, name: &Ident) -> Option<&Expr> {
        self.merged.iter().find(|(merged, _)| same(name, merged)).map(|(_, expr)| expr)
    }

    /// Meaning of an identifier; case does not matter.
    pub fn find(&self, parts: &[Ident]) -> NameMeaning<'_> {
        let (qualifier, name) = match parts {
            [name] => (None, name),
            [qualifier, name] => (Some(qualifier), name),
            _ => return NameMeaning::Unknown,
        };
        let is_meant = |relation: &&Relation| qualifier.is_none_or(|word| same(word, &relation.name));
        let relations: Vec<&Relation> = self.relations.iter().filter(is_meant).collect();
        for relation in &relations {
            let columns = relation.columns.iter().flatten();
            if let Some(column) = columns.into_iter().find(|column| same(name, &column.name)) {
                return NameMeaning::Column(relation, column);
            }
        }
        let is_open = relations.iter().any(|relation| relation.columns.is_none());
        if is_open { NameMeaning::Unknown } else { NameMeaning::Nothing }
    }

    /// Meaning of the values of an identifier.
    pub fn meaning(&self, parts: &[Ident]) -> Meaning {
        match self.find(parts) {
            NameMeaning::Column(_, column) => column.meaning,
            _ => Meaning::Open,
        }
    }

    /// Kind of the numbers of an identifier.
    pub fn number(&self, parts: &[Ident]) -> Number {
        match self.find(parts) {
            NameMeaning::Column(_, column) => column.number,
            _ => Number::Open,
        }
    }
}

/// Whether an identifier matches a name, in any case.
pub fn same(word: &Ident, name: &str) -> bool {
    word.value.eq_ignore_ascii_case(name)
}

/// The columns of a canonical table.
pub fn columns_of(table: &Table) -> Vec<Column> {
    let column = |column: &schema::Column| Column {
        name: column.name.to_owned(),
        meaning: Meaning::of_column(column),
        number: Number::of_column(column.column_type),
    };
    table.columns.iter().map(column).collect()
}
