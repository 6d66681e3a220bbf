//! Splits SELECTs that do two things at once: the inner SELECT does the first, the outer one does the second with its rows.

use sqlparser::ast::{
    CastKind, Distinct, Expr, Function, GroupByExpr, Ident, ObjectNamePart, OrderBy, OrderByExpr, OrderByKind, Query,
    Select, SelectItem, SetExpr, TableAlias, TableFactor, TableWithJoins, Value, VisitMut, WindowType,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::functions::{expression, is_aggregate, is_constant};
use super::parts::{Each, refused};
use super::scope::{NameMeaning, Scope, same};
use crate::depth::only_query;
use crate::error::QueryError;

/// Prefixes for the names of keys and aggregates in the grouping subquery. Users do not name columns like this.
const KEY: &str = "(key) ";
const SUM: &str = "(sum) ";

/// Whether an expression has an aggregate that is not over a window, or a function over one.
pub fn has(expr: &Expr, over: bool) -> bool {
    let mut found = false;
    let mut look = |expr: &mut Expr| {
        if let Expr::Function(function) = expr {
            found |= if over { function.over.is_some() } else { is_aggregate(function) };
        }
    };
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    found
}

/// Whether an expression aggregates functions over windows.
fn aggregates_windows(expr: &Expr) -> bool {
    let mut found = false;
    let mut look = |expr: &mut Expr| {
        found |= matches!(expr, Expr::Function(function) if is_aggregate(function)) && has(expr, true);
    };
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    found
}

/// The expressions that a SELECT returns.
pub fn items(select: &Select) -> impl Iterator<Item = &Expr> {
    select.projection.iter().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    })
}

/// The keys of the groups of a SELECT: a name is a column first, then an item.
pub fn keys(select: &Select, scope: &Scope) -> Vec<Expr> {
    let GroupByExpr::Expressions(keys, _) = &select.group_by else {
        return items(select).filter(|item| !has(item, false) && !has(item, true)).cloned().collect();
    };
    let meant = |key: &Expr| match key {
        Expr::Value(value) => match &value.value {
            Value::Number(place, _) => {
                let place = place.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                place.and_then(|place| items(select).nth(place)).cloned()
            }
            _ => None,
        },
        Expr::Identifier(word) if !matches!(scope.find(std::slice::from_ref(word)), NameMeaning::Column(..)) => {
            select.projection.iter().find_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } if same(word, &alias.value) => Some(expr.clone()),
                _ => None,
            })
        }
        _ => None,
    };
    keys.iter().map(|key| meant(key).unwrap_or_else(|| key.clone())).collect()
}

/// Whether a SELECT has groups or aggregates.
pub(crate) fn is_aggregated(select: &Select) -> bool {
    let has_keys = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    has_keys || items(select).chain(&select.having).any(|expr| has(expr, false))
}

/// Whether a SELECT returns one row: aggregates over all rows that it reads.
pub(crate) fn is_one_row(select: &Select) -> bool {
    let has_keys = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    !has_keys && is_aggregated(select)
}

/// Splits a SELECT that groups and also orders by aggregates or has windows over groups: a subquery groups, and the rest reads its rows.
///
/// # Errors
/// When a column is not grouped by.
pub(crate) fn split_groups(
    select: &mut Select,
    order: Option<&mut OrderBy>,
    scope: &Scope,
) -> Result<Option<Select>, QueryError> {
    let outer = over_groups(select, order, scope);
    let name = outer.as_ref().and_then(|outer| items(outer).chain(&outer.selection).find_map(ungrouped));
    name.map_or(Ok(outer), |name| {
        Err(refused(format!(
            "{name} is neither grouped by nor in an aggregate; add it to GROUP BY, or compute windows of rows in a subquery"
        )))
    })
}

/// A name in an expression over groups that is neither a key nor an aggregate.
fn ungrouped(expr: &Expr) -> Option<String> {
    let mut found = None;
    let mut look = |expr: &mut Expr| match expr {
        Expr::Identifier(word) if word.value.starts_with(KEY) || word.value.starts_with(SUM) => {}
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => found = found.take().or(Some(expr.to_string())),
        _ => {}
    };
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    found
}

fn over_groups(select: &mut Select, order: Option<&mut OrderBy>, scope: &Scope) -> Option<Select> {
    let mut orders = match order.map(|order| &mut order.kind) {
        Some(OrderByKind::Expressions(orders)) => orders.iter_mut().map(|order| &mut order.expr).collect(),
        _ => Vec::new(),
    };
    if !is_aggregated(select) {
        return None;
    }
    let keys = keys(select, scope);
    // polars has no HAVING without GROUP BY, and none that compares a key.
    let wants = select.having.is_some()
        || items(select).any(|item| has(item, true))
        || orders.iter().any(|order| has(order, false))
        || computes_with_keys(select, &keys, &orders, scope);
    if !wants {
        name_keys(select, &keys, scope);
        return None;
    }
    // Expressions computed before the groups cannot come after them.
    if keys.iter().any(|key| has(key, true)) || items(select).any(aggregates_windows) {
        return None;
    }
    let mut inner = empty()?;
    std::mem::swap(&mut inner.from, &mut select.from);
    inner.selection = select.selection.take();
    let (keys, shown) = distinct(keys, scope);
    inner.projection = keys.iter().enumerate().map(|(at, key)| item(key.clone(), &format!("{KEY}{at}"))).collect();
    inner.group_by = GroupByExpr::Expressions(keys.clone(), Vec::new());
    name_keys(&mut inner, &keys, scope);
    let mut sums: Vec<String> = Vec::new();
    let mut take = |expr: &mut Expr| {
        let written = canonical(expr, scope);
        if let Some(at) = shown.iter().position(|key| *key == written) {
            *expr = Expr::Identifier(Ident::with_quote('"', format!("{KEY}{at}")));
            return;
        }
        let Expr::Function(function) = &expr else { return };
        if !is_aggregate(function) {
            return;
        }
        let text = expr.to_string();
        let at = sums.iter().position(|known| *known == text).unwrap_or_else(|| {
            inner.projection.push(item(expr.clone(), &format!("{SUM}{}", sums.len())));
            sums.push(text);
            sums.len() - 1
        });
        *expr = Expr::Identifier(Ident::with_quote('"', format!("{SUM}{at}")));
    };
    let mut outer = empty()?;
    outer.distinct = select.distinct.take();
    outer.projection = std::mem::take(&mut select.projection);
    outer.selection = select.having.take();
    for item in &mut outer.projection {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expr) => (expr.clone(), None),
            SelectItem::ExprWithAlias { expr, alias } => (expr.clone(), Some(alias.clone())),
            _ => return None,
        };
        let name = alias.or(match &expr {
            Expr::Identifier(word) => Some(word.clone()),
            Expr::CompoundIdentifier(parts) => parts.last().cloned(),
            _ => None,
        })?;
        let mut expr = expr;
        let _ = expr.visit(&mut Each::from_outside(&mut take));
        *item = SelectItem::ExprWithAlias { expr, alias: name };
    }
    let names: Vec<Ident> = outer
        .projection
        .iter()
        .filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
            _ => None,
        })
        .collect();
    if let Some(condition) = &mut outer.selection {
        let _ = condition.visit(&mut Each::from_outside(&mut take));
    }
    for order in &mut orders {
        if !matches!(&**order, Expr::Identifier(word) if names.iter().any(|name| same(word, &name.value))) {
            let _ = order.visit(&mut Each::from_outside(&mut take));
        }
    }
    outer.from = vec![from(inner)?];
    Some(outer)
}

/// Whether a SELECT computes with its keys: polars then returns lists. It also computes keys that are not columns again from the grouped
/// rows, unless each key is one item with its own name.
fn computes_with_keys(select: &Select, keys: &[Expr], orders: &[&mut Expr], scope: &Scope) -> bool {
    if keys.is_empty() {
        return false;
    }
    let is_ordered = orders.iter().any(|order| !matches!(order, Expr::Identifier(_)));
    let (keys, written) = distinct(keys.to_vec(), scope);
    let times_shown = |key: &String| items(select).filter(|item| canonical(item, scope) == *key).count();
    let mut computed = keys.iter().zip(&written).filter(|(key, _)| !is_column(key)).peekable();
    let is_computed =
        |item: &Expr| !written.contains(&canonical(item, scope)) && !is_constant(&without_aggregates(item));
    items(select).any(is_computed)
        || computed.peek().is_some() && is_ordered
        || !computed.all(|(_, key)| times_shown(key) == 1 && name_of_key(select, key, scope).is_some())
}

/// The new name that an item gives a key.
fn name_of_key(select: &Select, written: &str, scope: &Scope) -> Option<Ident> {
    let is_new = |alias: &Ident| scope.is_known() && scope.find(std::slice::from_ref(alias)) == NameMeaning::Nothing;
    select.projection.iter().find_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if is_new(alias) && canonical(expr, scope) == written => {
            Some(alias.clone())
        }
        _ => None,
    })
}

/// Distinct keys, and the texts by which they are compared.
fn distinct(keys: Vec<Expr>, scope: &Scope) -> (Vec<Expr>, Vec<String>) {
    let mut written: Vec<String> = Vec::new();
    let mut first = Vec::new();
    for key in keys {
        let text = canonical(&key, scope);
        if !written.contains(&text) {
            written.push(text);
            first.push(key);
        }
    }
    (first, written)
}

/// An expression with NULL in place of each aggregate.
fn without_aggregates(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let mut take = |part: &mut Expr| {
        if matches!(part, Expr::Function(function) if is_aggregate(function)) {
            *part = Expr::Value(Value::Null.into());
        }
    };
    let _ = expr.visit(&mut Each::from_outside(&mut take));
    expr
}

/// Groups by the names of items if keys are not columns, and by each key for GROUP BY ALL.
fn name_keys(select: &mut Select, keys: &[Expr], scope: &Scope) {
    let name = |key: &Expr| {
        let name = name_of_key(select, &canonical(key, scope), scope).map(Expr::Identifier);
        name.filter(|_| !is_column(key))
    };
    let names: Vec<Option<Expr>> = keys.iter().map(name).collect();
    let is_listed = items(select).count() == select.projection.len();
    match &mut select.group_by {
        GroupByExpr::Expressions(written, _) => {
            for (written, name) in written.iter_mut().zip(names) {
                *written = name.unwrap_or_else(|| written.clone());
            }
        }
        all if is_listed => {
            let whole = keys.iter().zip(names).map(|(key, name)| name.unwrap_or_else(|| key.clone()));
            *all = GroupByExpr::Expressions(whole.collect(), Vec::new());
        }
        GroupByExpr::All(_) => {}
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// The normal form of an expression for comparisons: names become the columns that they mean, and every construct is written in one way.
fn canonical(expr: &Expr, scope: &Scope) -> String {
    let mut expr = expr.clone();
    while let Expr::Nested(inner) = expr {
        expr = *inner;
    }
    let column = |words: &[Ident]| {
        let words = match scope.find(words) {
            NameMeaning::Column(relation, column) => vec![relation.name.to_lowercase(), column.name.clone()],
            _ => words.iter().map(|word| word.value.to_lowercase()).collect(),
        };
        Expr::CompoundIdentifier(words.into_iter().map(Ident::new).collect())
    };
    let mut simplify = |part: &mut Expr| match part {
        Expr::Identifier(word) => *part = column(std::slice::from_ref(word)),
        Expr::CompoundIdentifier(words) => *part = column(words),
        Expr::Cast { kind: kind @ CastKind::DoubleColon, .. } => *kind = CastKind::Cast,
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            function.name.0 = vec![ObjectNamePart::Identifier(Ident::new(name))];
        }
        _ => {}
    };
    let _ = expr.visit(&mut Each::new(&mut simplify));
    expr.to_string()
}

/// Rewrites DISTINCT ON to take the first row of each key, in the order of the query.
///
/// # Errors
/// When polars has nothing for it.
pub(crate) fn distinct_on(
    select: &mut Select,
    order: Option<&OrderBy>,
    aliases: &[(Ident, Expr)],
    scope: &Scope,
) -> Result<(), QueryError> {
    let Some(Distinct::On(keys)) = &select.distinct else { return Ok(()) };
    if scope.relations.len() != 1 {
        return Err(refused("polars has no DISTINCT ON over a join; put the join into a subquery"));
    }
    if is_aggregated(select) {
        return Err(refused("polars has no DISTINCT ON over groups; put the groups into a subquery"));
    }
    let orders = match order.map(|order| &order.kind) {
        Some(OrderByKind::All(_)) => {
            return Err(refused("polars has no DISTINCT ON with ORDER BY ALL; name the columns"));
        }
        Some(OrderByKind::Expressions(orders)) => orders.clone(),
        None => Vec::new(),
    };
    let named = |word: &Ident| aliases.iter().find(|(alias, _)| same(word, &alias.value)).map(|(_, expr)| expr.clone());
    let meant = |expr: &Expr, is_name_first: bool| match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(place, _) => {
                let place = place.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
                place.and_then(|place| items(select).nth(place)).cloned()
            }
            _ => None,
        },
        Expr::Identifier(word) if is_name_first || scope.find(std::slice::from_ref(word)) == NameMeaning::Nothing => {
            named(word)
        }
        _ => None,
    };
    let wrong = || refused("polars has no DISTINCT ON of that form; filter by row_number() in a subquery");
    let mut condition = expression("row_number() OVER (PARTITION BY 1 ORDER BY 1) = 1").ok_or_else(wrong)?;
    let Expr::BinaryOp { left, .. } = &mut condition else { return Err(wrong()) };
    let Expr::Function(Function { over: Some(WindowType::WindowSpec(spec)), .. }) = left.as_mut() else {
        return Err(wrong());
    };
    spec.partition_by = keys.iter().map(|key| meant(key, false).unwrap_or_else(|| key.clone())).collect();
    spec.order_by = orders
        .into_iter()
        .map(|order| OrderByExpr { expr: meant(&order.expr, true).unwrap_or_else(|| order.expr.clone()), ..order })
        .collect();
    select.distinct = None;
    select.qualify = Some(condition);
    Ok(())
}

/// Splits a SELECT with QUALIFY: a subquery computes its windows, and the outer SELECT filters.
pub(crate) fn split_qualify(select: &mut Select, scope: &Scope) -> Result<Option<Select>, QueryError> {
    let Some(mut condition) = select.qualify.take() else { return Ok(None) };
    let [relation] = scope.relations.as_slice() else {
        return Err(refused("polars has no QUALIFY over a join; put the join into a subquery"));
    };
    if is_aggregated(select) {
        return Err(refused("polars has no QUALIFY over groups; put the groups into a subquery"));
    }
    let wrong = || refused("this form of QUALIFY is not supported; filter a subquery with WHERE");
    let mut inner = empty().ok_or_else(wrong)?;
    inner.projection = vec![SelectItem::Wildcard(Default::default())];
    let mut taken = 0;
    let mut take = |expr: &mut Expr| {
        if matches!(expr, Expr::Function(function) if function.over.is_some()) {
            let name = format!("window_of_{taken}");
            inner.projection.push(item(expr.clone(), &name));
            *expr = Expr::Identifier(Ident::new(name));
            taken += 1;
        }
    };
    let mut outer = select.clone();
    let _ = condition.visit(&mut Each::new(&mut take));
    let _ = outer.projection.visit(&mut Each::new(&mut take));
    inner.from = std::mem::take(&mut outer.from);
    inner.selection = outer.selection.take();
    outer.selection = Some(condition);
    let mut table = from(inner).ok_or_else(wrong)?;
    if let TableFactor::Derived { alias: Some(alias), .. } = &mut table.relation {
        alias.name = Ident::new(relation.name.clone());
    }
    outer.from = vec![table];
    Ok(Some(outer))
}

fn item(expr: Expr, name: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) }
}

/// An empty SELECT.
fn empty() -> Option<Select> {
    match *query_of(include_str!("sql/one.sql"))?.body {
        SetExpr::Select(mut select) => {
            select.projection.clear();
            Some(*select)
        }
        _ => None,
    }
}

pub(crate) fn query_of(sql: &str) -> Option<Query> {
    only_query(Parser::parse_sql(&GenericDialect {}, sql).ok()?).map(|query| *query)
}

pub fn table(name: &str) -> Option<TableFactor> {
    let mut query = query_of(&format!(include_str!("sql/table.sql"), name = name))?;
    match query.body.as_mut() {
        SetExpr::Select(select) => select.from.pop().map(|from| from.relation),
        _ => None,
    }
}

fn from(select: Select) -> Option<TableWithJoins> {
    let mut query = query_of(include_str!("sql/one.sql"))?;
    query.body = Box::new(SetExpr::Select(Box::new(select)));
    let name = Ident::new("grouped");
    let alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
    let relation = TableFactor::Derived { lateral: false, subquery: Box::new(query), alias, sample: None };
    Some(TableWithJoins { relation, joins: Vec::new() })
}
