//! Rows that a statement lists, as in `VALUES (1, 'a'), (2, 'b')`.

use sqlparser::ast::{Cte, Expr, SetExpr, TableFactor, TableWithJoins, Value, VisitMut};

use super::lowering::query_of;
use super::parts::{Each, derived, refused};
use super::rewriter::constant;
use super::scope::{Column, Scope};
use super::translate::Translator;
use super::types::Number;
use crate::error::QueryError;
use crate::units::Meaning;

impl Translator<'_, '_> {
    /// Brings rows of values into the form of polars, which accepts only literals, and gives the values of a column one type.
    ///
    /// # Errors
    /// When a value cannot be computed.
    pub fn listed(&mut self, body: &mut SetExpr) -> Result<Vec<Column>, QueryError> {
        let SetExpr::Values(values) = body else { return Ok(Vec::new()) };
        let scope = Scope::default();
        let width = values.rows.first().map_or(0, |row| row.content.len());
        let mut columns: Vec<Column> = Vec::new();
        for at in 0..width {
            let given = values.rows.iter().filter_map(|row| row.content.get(at));
            let number = Number::of_all(given, &scope);
            columns.push(Column { name: format!("col{at}"), meaning: Meaning::Open, number });
        }
        for row in &mut values.rows {
            for (value, column) in row.content.iter_mut().zip(&columns) {
                if !is_literal(value) {
                    let mut query =
                        query_of(&format!("SELECT {value}")).ok_or_else(|| refused("VALUES takes values"))?;
                    *value = self.value(&mut query, &scope)?;
                }
                match (column.number, constant(value)) {
                    (Number::IntegerType, Some(number)) => {
                        *value = Expr::Value(Value::SingleQuotedString(number.to_string()).into());
                    }
                    _ => self.rewrite(value, &scope)?,
                }
                if matches!(column.number, Number::Decimal | Number::Float) {
                    with_points(value);
                }
            }
        }
        with_types(body, &columns);
        Ok(columns)
    }
}

/// Casts the texts that replace integers: a number has 32 or 64 bits in polars, and a column cannot hold both. Floats lost the exponents
/// that distinguish them from decimals; a cast preserves the difference when the statement is translated again.
fn with_types(body: &mut SetExpr, columns: &[Column]) {
    if !columns.iter().any(|column| matches!(column.number, Number::IntegerType | Number::Float)) {
        return;
    }
    let item = |Column { name, number, .. }: &Column| match number {
        Number::IntegerType => format!("CAST({name} AS BIGINT) AS {name}"),
        Number::Float => format!("CAST({name} AS DOUBLE) AS {name}"),
        _ => name.clone(),
    };
    let items = columns.iter().map(item).collect::<Vec<_>>().join(", ");
    let names = columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    let whole = query_of(&format!(include_str!("sql/literals.sql"), items = items, names = names));
    let Some(SetExpr::Select(mut select)) = whole.map(|whole| *whole.body) else { return };
    if let Some(literals) = derived(&mut select) {
        std::mem::swap(literals.body.as_mut(), body);
        *body = SetExpr::Select(select);
    }
}

/// A table of one row, without a column that a statement would name.
pub(crate) fn one_row() -> Option<TableWithJoins> {
    match *query_of(include_str!("sql/one_row.sql"))?.body {
        SetExpr::Select(mut select) => select.from.pop(),
        _ => None,
    }
}

/// Whether an expression is a literal, with a sign or without.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp { expr, .. } => matches!(**expr, Expr::Value(_)),
        other => matches!(other, Expr::Value(_)),
    }
}

/// Turns the integers in an expression into floats.
fn with_points(expr: &mut Expr) {
    let mut point = |expr: &mut Expr| {
        if let Expr::Value(value) = expr
            && let Value::Number(digits, _) = &mut value.value
            && !digits.contains('.')
        {
            digits.push_str(".0");
        }
    };
    let _ = expr.visit(&mut Each::new(&mut point));
}

/// Puts rows of values into a subquery, so that names of columns can be given to them.
pub(crate) fn values_apart(cte: &mut Cte) {
    let whole = query_of(include_str!("sql/listed.sql"));
    let Some(mut whole) = whole else { return };
    if let SetExpr::Select(select) = whole.body.as_mut()
        && let Some(from) = select.from.first_mut()
        && let TableFactor::Derived { subquery, alias: Some(alias), .. } = &mut from.relation
    {
        std::mem::swap(subquery, &mut cte.query);
        alias.columns = std::mem::take(&mut cte.alias.columns);
    }
    *cte.query = whole;
}
