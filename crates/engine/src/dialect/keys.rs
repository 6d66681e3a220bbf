//! Keys of groups: constants as keys, and names in HAVING, which are keys before they are items.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, OrderBy, OrderByKind, Query,
    Select, SelectItem, Value, VisitMut, VisitorMut, WindowType,
};

use super::functions::{is_aggregate, is_constant, name_of, spread_over};
use super::lowering::{has, is_aggregated, items, keys};
use super::parts::{Each, is_null, refused};
use super::scope::{NameMeaning, Scope, same};
use crate::QueryError;

/// Gives constants that are keys of groups a value for each row: polars makes a group for them even without rows, and does not accept a
/// text as a key.
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

/// Gives quantiles of keys a column that is not a key: polars computes a quantile of keys over the rows of all groups.
///
/// # Errors
/// When all columns are keys.
pub(crate) fn part_quantiles_from_keys(
    select: &mut Select,
    order: Option<&mut OrderBy>,
    scope: &Scope,
) -> Result<(), QueryError> {
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
    if let Some(OrderByKind::Expressions(orders)) = order.map(|order| &mut order.kind) {
        for order in orders {
            let _ = order.expr.visit(&mut Each::new(&mut part));
        }
    }
    match alone {
        Some(argument) => {
            Err(refused(format!("the quantile of {argument} is that of keys alone; take the key itself")))
        }
        None => Ok(()),
    }
}

/// The argument of a quantile function over groups.
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

/// The last parts of the names in an expression, in lower case.
fn columns_in(expr: &Expr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut look = |expr: &mut Expr| names.extend(last_name(expr).map(|name| name.to_lowercase()));
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    names
}

/// Gives constants a value for each row: polars returns one row if a SELECT has only constants, or reads no rows. It handles literals
/// correctly, unless a SELECT of only constants is ordered.
pub(crate) fn spread_constants(select: &mut Select, is_ordered: bool, scope: &Scope) {
    let is_literal = |expr: &Expr| matches!(expr, Expr::Value(_)) || is_subquery(expr);
    let is_alone = items(select).count() == select.projection.len() && items(select).all(is_alike_with_windows);
    let Some(column) = scope.any_column().filter(|_| !is_aggregated(select)) else { return };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
            && is_alike_with_windows(expr)
            && (!is_literal(expr) || is_alone && is_ordered)
            && !is_null(expr)
            && let Some(spread) = spread_over(&column, expr)
        {
            *expr = spread;
        }
    }
}

/// Drops GROUP BY ALL if every key is the same for all rows, as DuckDB does: the result is one row even without input rows.
pub(crate) fn drop_constant_keys(select: &mut Select, scope: &Scope) {
    if !matches!(select.group_by, GroupByExpr::All(_)) || !items(select).any(|item| has(item, false)) {
        return;
    }
    let mut alike: Vec<Ident> = Vec::new();
    for item in &select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return };
        let mut expr = expr.clone();
        let mut take = |part: &mut Expr| {
            if is_subquery(part) || is_named(part, &alike, scope) {
                *part = Expr::Value(Value::Null.into());
            }
        };
        let _ = expr.visit(&mut Each::from_outside(&mut take));
        if has(&expr, true) || !has(&expr, false) && !is_constant(&expr) {
            return;
        }
        if let SelectItem::ExprWithAlias { alias, .. } = item
            && !has(&expr, false)
        {
            alike.push(alias.clone());
        }
    }
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
}

/// Whether an expression is one of these names, and not a column.
fn is_named(expr: &Expr, names: &[Ident], scope: &Scope) -> bool {
    let Expr::Identifier(word) = expr else { return false };
    names.iter().any(|name| same(word, &name.value))
        && !matches!(scope.find(std::slice::from_ref(word)), NameMeaning::Column(..))
}

/// Like [`is_alike`], but also true for functions over a window of all rows, for which polars returns one value.
fn is_alike_with_windows(expr: &Expr) -> bool {
    let mut expr = expr.clone();
    let mut take = |part: &mut Expr| {
        let is_of_all = |function: &Function| match &function.over {
            Some(WindowType::WindowSpec(spec)) => {
                spec.partition_by.is_empty() && spec.order_by.is_empty() && spec.window_frame.is_none()
            }
            _ => false,
        };
        if is_subquery(part) || matches!(part, Expr::Function(function) if is_of_all(function)) {
            *part = Expr::Value(Value::Null.into());
        }
    };
    let _ = expr.visit(&mut Each::from_outside(&mut take));
    is_constant(&expr)
}

/// Whether an expression has the same value for all rows; a subquery that depends on them is refused later.
fn is_alike(expr: &Expr) -> bool {
    is_subquery(expr) || is_constant(expr)
}

fn is_subquery(expr: &Expr) -> bool {
    matches!(expr, Expr::Subquery(_) | Expr::Exists { .. })
}

/// Replaces aliases in HAVING by their expressions, except in aggregates and for keys of the groups.
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
