//! Keys of groups: constants as keys, and names in HAVING, which are keys before they are items.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, GroupByExpr, Ident, Query, Select, SelectItem, Value, VisitMut, VisitorMut};

use super::functions::{is_aggregate, is_constant, spread_over};
use super::lowering::{is_aggregated, keys};
use super::scope::{Scope, same};

/// Gives constants that are keys of groups a value for each row: polars makes a group of them where there is no row, and takes no text
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
