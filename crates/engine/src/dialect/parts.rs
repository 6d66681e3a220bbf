//! Helpers that split and build small parts of statements.

use std::ops::ControlFlow;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, Cte, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select,
    TableAlias, TableFactor, Value, VisitorMut, With,
};

use super::keywords::quoted;
use super::scope::{Column, Relation};
use crate::error::QueryError;

pub type Columns = Option<Vec<Column>>;

/// An error that names the unsupported part, and an alternative.
pub fn refused(reason: impl Into<String>) -> QueryError {
    QueryError::Dialect { reason: reason.into() }
}

/// Visits each expression outside subqueries, before or after its parts.
pub(crate) struct Each<'a> {
    each: &'a mut dyn FnMut(&mut Expr),
    is_before: bool,
    queries: usize,
}

impl<'a> Each<'a> {
    /// Visits each expression after its parts.
    pub(crate) fn new(each: &'a mut dyn FnMut(&mut Expr)) -> Self {
        Self { each, is_before: false, queries: 0 }
    }

    /// Visits each expression before its parts, as they are after the call.
    pub(crate) fn from_outside(each: &'a mut dyn FnMut(&mut Expr)) -> Self {
        Self { is_before: true, ..Self::new(each) }
    }

    fn see(&mut self, expr: &mut Expr, is_before: bool) -> ControlFlow<()> {
        if self.queries == 0 && self.is_before == is_before {
            (self.each)(expr);
        }
        ControlFlow::Continue(())
    }
}

impl VisitorMut for Each<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.see(expr, true)
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.see(expr, false)
    }
}

/// Whether a condition only equates columns.
pub(crate) fn is_of_columns(condition: &Expr) -> bool {
    let is_column = |expr: &Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
    match condition {
        Expr::Nested(inner) => is_of_columns(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => is_of_columns(left) && is_of_columns(right),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => is_column(left) && is_column(right),
        _ => false,
    }
}

pub fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if value.value == Value::Null)
}

/// The conditions that AND joins; BETWEEN is two of them.
pub(crate) fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition {
        Expr::Nested(inner) if !matches!(*inner, Expr::BinaryOp { op: BinaryOperator::Or, .. }) => conjuncts(*inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let mut parts = conjuncts(*left);
            parts.extend(conjuncts(*right));
            parts
        }
        Expr::Between { expr, negated: false, low, high } => {
            [(BinaryOperator::GtEq, low), (BinaryOperator::LtEq, high)]
                .map(|(op, right)| Expr::BinaryOp { left: expr.clone(), op, right })
                .to_vec()
        }
        other => vec![other],
    }
}

/// Joins conditions with AND.
pub(crate) fn all_of(conditions: Vec<Expr>) -> Option<Expr> {
    let is_choice = |condition: &Expr| matches!(condition, Expr::BinaryOp { op: BinaryOperator::Or, .. });
    let apart = |condition| if is_choice(&condition) { Expr::Nested(Box::new(condition)) } else { condition };
    let and = |left, right| Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::And, right: Box::new(right) };
    conditions.into_iter().map(apart).reduce(and)
}

/// The subquery that a SELECT reads first.
pub fn derived(select: &mut Select) -> Option<&mut Query> {
    match select.from.first_mut().map(|table| &mut table.relation) {
        Some(TableFactor::Derived { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

pub fn with(cte_tables: Vec<Cte>) -> With {
    With { with_token: AttachedToken::empty(), recursive: false, cte_tables }
}

pub fn named(name: &str) -> TableAlias {
    let needs_quotes = quoted(name) != name;
    let name = if needs_quotes { Ident::with_quote('"', name) } else { Ident::new(name) };
    TableAlias { explicit: true, name, columns: Vec::new(), at: None }
}

pub fn unknown(name: &str) -> Relation {
    Relation { name: name.to_owned(), columns: None, hidden: Vec::new() }
}

pub fn last_word(name: &ObjectName) -> Option<String> {
    match name.0.last() {
        Some(ObjectNamePart::Identifier(word)) => Some(word.value.clone()),
        _ => None,
    }
}

pub fn renamed(columns: Columns, alias: &TableAlias) -> Columns {
    let mut columns = columns?;
    for (column, given) in columns.iter_mut().zip(&alias.columns) {
        column.name.clone_from(&given.name.value);
    }
    Some(columns)
}

pub(crate) fn constraint_of(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::Anti(constraint)
        | JoinOperator::LeftAnti(constraint)
        | JoinOperator::AsOf { constraint, .. } => Some(constraint),
        _ => None,
    }
}
