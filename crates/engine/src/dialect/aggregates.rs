//! Rules for expressions next to aggregates and in them.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, GroupByExpr, Query, Select, Visit, Visitor};

use super::functions::{is_aggregate, is_known, name_of};
use super::lowering::{is_aggregated, items};
use super::parts::refused;
use super::scope::{NameMeaning, Scope};
use crate::error::QueryError;

/// Refuses columns next to aggregates of all rows, and aggregates of aggregates: polars returns values for both.
///
/// # Errors
/// When the SELECT has one.
pub(crate) fn check_aggregates(select: &Select, scope: &Scope) -> Result<(), QueryError> {
    let is_all_rows = matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    if !is_aggregated(select) || !scope.is_known() {
        return Ok(());
    }
    for expr in items(select).chain(&select.having) {
        let mut look = Aggregates { scope, lone: None, is_nested: false, aggregates: 0, unknown: 0, queries: 0 };
        let _ = Visit::visit(expr, &mut look);
        if look.is_nested {
            return Err(refused(format!(
                "{expr} is an aggregate of an aggregate; compute the inner one in a subquery"
            )));
        }
        if let Some(name) = look.lone.filter(|_| is_all_rows) {
            return Err(refused(format!(
                "{name} is next to an aggregate of all rows; group by it, or use any_value({name})"
            )));
        }
    }
    Ok(())
}

/// Looks for columns outside aggregates, and for aggregates inside aggregates.
struct Aggregates<'a> {
    scope: &'a Scope,
    lone: Option<String>,
    is_nested: bool,
    aggregates: usize,
    /// Functions around the present expression that may be aggregates, and are refused later.
    unknown: usize,
    queries: usize,
}

impl Visitor for Aggregates<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.queries > 0 {
            return ControlFlow::Continue(());
        }
        let parts = match expr {
            Expr::Function(function) if is_aggregate(function) => {
                self.is_nested |= self.aggregates > 0;
                self.aggregates += 1;
                return ControlFlow::Continue(());
            }
            Expr::Function(function) if !is_known(&name_of(function)) => {
                self.unknown += 1;
                return ControlFlow::Continue(());
            }
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(parts) => parts.as_slice(),
            _ => return ControlFlow::Continue(()),
        };
        if self.aggregates + self.unknown == 0 && matches!(self.scope.find(parts), NameMeaning::Column(..)) {
            self.lone.get_or_insert_with(|| expr.to_string());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) if self.queries == 0 && is_aggregate(function) => self.aggregates -= 1,
            Expr::Function(function) if self.queries == 0 && !is_known(&name_of(function)) => self.unknown -= 1,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
