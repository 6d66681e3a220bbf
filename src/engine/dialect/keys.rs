//! Keys of groups: constants as keys, and names in HAVING, which are keys before they are items.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, Query, Select, SelectItem, Value,
    VisitMut, VisitorMut,
};

use super::functions::{is_aggregate, is_constant, name_of, spread_over};
use super::lowering::{is_aggregated, keys};
use super::parts::{Each, refused};
use super::scope::{Scope, same};
use crate::engine::QueryError;

/// Gives constants that are keys of groups a value for each row: polars makes a group of them even without rows, and takes no text
/// for a key.
pub(crate) fn spread_keys(select: &mut Select, scope: &Scope) {
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    if !is_grouped || !is_aggregated(select) {
        return;
    }
    let mut meant = keys(select, scope);
    meant.retain(|key| is_alike(key) && !is_null(key));
    let Some(column) = scope.any_column().filter(|_| !meant.is_empty()) else { return };
    let spread = |expr: &mut Expr| {
        if meant.contains(expr)
            && let Some(spread) = spread_over(&column, expr)
        {
            *expr = spread;
        }
    };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            spread(expr);
        }
    }
    if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
        // A number is the place of an item.
        keys.iter_mut().filter(|key| !matches!(key, Expr::Value(_))).for_each(spread);
    }
}

/// Gives quantiles of nothing but keys of the groups a column that is not a key: polars takes such a quantile over the rows of all groups.
///
/// # Errors
/// When all columns are keys.
pub(crate) fn part_quantiles_from_keys(select: &mut Select, scope: &Scope) -> Result<(), QueryError> {
    let names: BTreeSet<String> = keys(select, scope).iter().flat_map(columns_in).collect();
    let column = scope.column_but(&names);
    let mut alone = None;
    let mut part = |expr: &mut Expr| {
        let Some(argument) = argument_of_quantile(expr) else { return };
        let own = columns_in(argument);
        if own.is_empty() || !own.is_subset(&names) {
            return;
        }
        match column.as_ref().and_then(|column| spread_over(column, argument)) {
            Some(spread) => *argument = spread,
            None => alone = Some(argument.to_string()),
        }
    };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            let _ = expr.visit(&mut Each::new(&mut part));
        }
    }
    if let Some(condition) = &mut select.having {
        let _ = condition.visit(&mut Each::new(&mut part));
    }
    match alone {
        Some(argument) => {
            Err(refused(format!("the quantile of {argument} is that of keys alone; take the key itself")))
        }
        None => Ok(()),
    }
}

/// Whose quantile a function of groups is.
fn argument_of_quantile(expr: &mut Expr) -> Option<&mut Expr> {
    let Expr::Function(function) = expr else { return None };
    if function.over.is_some()
        || !name_of(function).contains("quantile") && !name_of(function).starts_with("percentile_")
    {
        return None;
    }
    if let Some(order) = function.within_group.first_mut() {
        return Some(&mut order.expr);
    }
    let FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.first_mut()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
        _ => None,
    }
}

/// The last parts of the names in an expression, in small letters.
fn columns_in(expr: &Expr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut look = |expr: &mut Expr| names.extend(last_name(expr).map(|name| name.to_lowercase()));
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    names
}

/// Gives constants a value for each row where a SELECT has nothing else but functions of windows, or is ordered: polars gives one row then.
pub(crate) fn spread_constants(select: &mut Select, is_ordered: bool, scope: &Scope) {
    let items = || {
        select.projection.iter().map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        })
    };
    let is_window = |expr: &Expr| matches!(expr, Expr::Function(function) if function.over.is_some());
    let is_alone = items().all(|item| item.is_some_and(is_alike));
    let wants = is_alone && (is_ordered || items().flatten().any(is_window));
    let Some(column) = scope.any_column().filter(|_| wants && !is_aggregated(select)) else { return };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
            && !is_window(expr)
            && !is_null(expr)
            && let Some(spread) = spread_over(&column, expr)
        {
            *expr = spread;
        }
    }
}

/// Whether an expression has the same value for all rows; a subquery that depends on them is refused later.
fn is_alike(expr: &Expr) -> bool {
    matches!(expr, Expr::Subquery(_) | Expr::Exists { .. }) || is_constant(expr)
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if value.value == Value::Null)
}

/// Puts what the items of a SELECT are in the place of their names in HAVING, except in aggregates and for keys of the groups.
pub(crate) fn resolve_having(select: &mut Select, aliases: &[(Ident, Expr)]) {
    let GroupByExpr::Expressions(keys, _) = &select.group_by else { return };
    let keys: Vec<String> = keys.iter().filter_map(last_name).collect();
    let mut names = Names { aliases, keys: &keys, inside: 0 };
    if let Some(condition) = &mut select.having {
        let _ = VisitMut::visit(condition, &mut names);
    }
}

fn last_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(word) => Some(word.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|word| word.value.clone()),
        _ => None,
    }
}

struct Names<'a> {
    aliases: &'a [(Ident, Expr)],
    keys: &'a [String],
    /// Aggregates and subqueries around the present expression.
    inside: usize,
}

impl VisitorMut for Names<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.inside += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.inside -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        self.inside += usize::from(matches!(expr, Expr::Function(function) if is_aggregate(function)));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) if is_aggregate(function) => self.inside -= 1,
            Expr::Identifier(word) if self.inside == 0 => {
                let is_key = |key: &String| word.value.eq_ignore_ascii_case(key);
                let named = self.aliases.iter().find(|(alias, _)| same(word, &alias.value));
                if let Some((_, meant)) = named.filter(|_| !self.keys.iter().any(is_key)) {
                    *expr = Expr::Nested(Box::new(meant.clone()));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
