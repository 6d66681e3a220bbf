//! The items of a SELECT: `*` written out, names of columns, and aliases replaced by their expressions.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Distinct, Expr, Ident, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, VisitMut,
    WildcardAdditionalOptions,
};

use super::names::name_of;
use super::parts::{Columns, Each, last_word, refused};
use super::scope::{Column, NameMeaning, Relation, Scope, same};
use super::types::Number;
use crate::declarations::ColumnUnit;
use crate::error::QueryError;
use crate::units::{Meaning, meaning};

/// Gives the columns of a query the names in the alias of its table, as in `t(a, b)`.
pub(crate) fn name_columns(query: &mut Query, alias: &mut TableAlias) {
    let Some(items) = first_items(&mut query.body) else { return };
    let is_one = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
    if items.len() < alias.columns.len() || !items.iter().all(is_one) {
        return;
    }
    for (item, column) in items.iter_mut().zip(std::mem::take(&mut alias.columns)) {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: column.name };
        }
    }
}

/// The items of the first SELECT of a query, whose names are those of its columns.
fn first_items(body: &mut SetExpr) -> Option<&mut Vec<SelectItem>> {
    match body {
        SetExpr::Select(select) => Some(&mut select.projection),
        SetExpr::Query(query) => first_items(&mut query.body),
        SetExpr::SetOperation { left, .. } => first_items(left),
        _ => None,
    }
}

/// Replaces `*` with columns where polars would return other ones: several relations may share column names, and a subquery with windows
/// also has the columns of the windows.
///
/// # Errors
/// When a `*` with options such as EXCLUDE cannot be replaced.
pub(crate) fn expand_stars(select: &mut Select, scope: &Scope) -> Result<(), QueryError> {
    let is_plain = |options: &WildcardAdditionalOptions| options.to_string().is_empty();
    let is_split = select.qualify.is_some() || matches!(&select.distinct, Some(Distinct::On(_)));
    let is_joined = scope.relations.len() > 1;
    if !is_joined && !is_split && select.projection.len() < 2 {
        return Ok(());
    }
    let is_changed = |item: &SelectItem| matches!(item, SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) if !is_plain(options));
    if let Some(item) = select.projection.iter().find(|item| is_changed(item)).filter(|_| is_joined || is_split) {
        return Err(refused(format!(
            "polars has no {item} over a join or with QUALIFY or DISTINCT ON; list the columns"
        )));
    }
    if !scope.is_known() {
        return Ok(());
    }
    let mut items = Vec::new();
    for item in std::mem::take(&mut select.projection) {
        let wanted: Vec<&Relation> = match &item {
            SelectItem::Wildcard(options) if is_plain(options) => scope.relations.iter().collect(),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options)
                if is_plain(options) =>
            {
                let word = last_word(name).unwrap_or_default();
                scope.relations.iter().filter(|relation| relation.name.eq_ignore_ascii_case(&word)).collect()
            }
            _ => Vec::new(),
        };
        if wanted.is_empty() {
            items.push(item);
            continue;
        }
        let is_star = matches!(item, SelectItem::Wildcard(_));
        for relation in wanted {
            for column in relation.columns.iter().flatten() {
                if is_star && relation.hidden.contains(&column.name) {
                    continue;
                }
                let name = Ident::with_quote('"', &column.name);
                if let Some(merged) = scope.merged(&name).filter(|_| is_star) {
                    items.push(SelectItem::ExprWithAlias { expr: merged.clone(), alias: name });
                    continue;
                }
                let parts = [&relation.name, &column.name].map(|word| Ident::with_quote('"', word));
                items.push(SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts.to_vec())));
            }
        }
    }
    select.projection = items;
    Ok(())
}

/// Names every column as DuckDB does, and adds a number if the name is taken.
pub(crate) fn name_items(select: &mut Select, scope: &Scope) -> Columns {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut columns: Columns = Some(Vec::new());
    let unused = |taken: &mut BTreeSet<String>, name: String| {
        let mut unused = name.clone();
        let mut number = 0;
        while !taken.insert(unused.clone()) {
            number += 1;
            unused = format!("{name}_{number}");
        }
        unused
    };
    for item in &mut select.projection {
        let (expr, given) = match item {
            SelectItem::UnnamedExpr(expr) => (expr.clone(), None),
            SelectItem::ExprWithAlias { expr, alias } => (expr.clone(), Some(alias.value.clone())),
            SelectItem::Wildcard(options) if options.to_string().is_empty() && scope.relations.len() == 1 => {
                let known = scope.relations.first().and_then(|relation| relation.columns.clone());
                taken.extend(known.iter().flatten().map(|column| column.name.clone()));
                columns = columns.zip(known).map(|(columns, known)| [columns, known].concat());
                continue;
            }
            _ => {
                columns = None;
                continue;
            }
        };
        let found = match &expr {
            Expr::Identifier(name) => scope.find(std::slice::from_ref(name)),
            Expr::CompoundIdentifier(parts) => scope.find(parts),
            _ => NameMeaning::Nothing,
        };
        let own = match found {
            NameMeaning::Column(_, column) => column.name.clone(),
            _ => name_of(&expr),
        };
        let is_given = given.is_some() || matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        let wanted = given.clone().unwrap_or_else(|| own.clone());
        let name = unused(&mut taken, wanted);
        let meant = meaning(&expr, &|parts| scope.meaning(parts));
        let unit = meant.unit(given.as_ref().unwrap_or(&own), is_given);
        let is_bare = matches!(&expr, Expr::Identifier(word) if word.value == name && scope.merged(word).is_none());
        let number = Number::infer(&expr, scope);
        if given.as_ref() != Some(&name) && !is_bare {
            *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', &name) };
        }
        if let Some(columns) = &mut columns {
            let meaning =
                if meant == Meaning::Open && unit == ColumnUnit::Text { Meaning::Open } else { Meaning::In(unit) };
            columns.push(Column { name, meaning, number });
        }
    }
    columns
}

/// The items of a SELECT that have an alias.
pub(crate) fn aliases_of(select: &Select) -> Vec<(Ident, Expr)> {
    let named = select.projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((alias.clone(), expr.clone())),
        _ => None,
    });
    named.collect()
}

/// Replaces aliases by their expressions where polars knows only columns: in conditions, and in later items.
pub(crate) fn resolve_aliases(select: &mut Select, scope: &Scope, aliases: &[(Ident, Expr)]) {
    if !scope.is_known() {
        return;
    }
    let place = |expr: &mut Expr, known: &[(Ident, Expr)]| {
        let mut replace = |expr: &mut Expr| {
            let Expr::Identifier(word) = expr else { return };
            if scope.find(std::slice::from_ref(word)) == NameMeaning::Nothing
                && let Some((_, meant)) = known.iter().find(|(alias, _)| same(word, &alias.value))
            {
                *expr = Expr::Nested(Box::new(meant.clone()));
            }
        };
        let _ = expr.visit(&mut Each::new(&mut replace));
    };
    let mut seen: Vec<(Ident, Expr)> = Vec::new();
    for item in &mut select.projection {
        if let SelectItem::ExprWithAlias { expr, alias } = item {
            place(expr, &seen);
            seen.push((alias.clone(), expr.clone()));
        } else if let SelectItem::UnnamedExpr(expr) = item {
            place(expr, &seen);
        }
    }
    let conditions = select.selection.iter_mut().chain(&mut select.having).chain(&mut select.qualify);
    conditions.for_each(|condition| place(condition, aliases));
}

/// Refuses ORDER BY expressions with a name that is both a column and a different item: polars would take the item.
///
/// # Errors
/// When there is such a name.
pub(crate) fn check_order(expr: &Expr, aliases: &[(Ident, Expr)], scope: &Scope) -> Result<(), QueryError> {
    let mut found = None;
    let mut look = |part: &mut Expr| {
        let Expr::Identifier(word) = part else { return };
        let is_other = |(alias, meant): &&(Ident, Expr)| {
            same(word, &alias.value) && !matches!(meant, Expr::Identifier(column) if same(column, &word.value))
        };
        if matches!(scope.find(std::slice::from_ref(word)), NameMeaning::Column(..))
            && aliases.iter().any(|one| is_other(&one))
        {
            found = Some(word.value.clone());
        }
    };
    if !matches!(expr, Expr::Identifier(_)) && !aliases.iter().any(|(_, item)| item == expr) {
        let _ = expr.clone().visit(&mut Each::new(&mut look));
    }
    found.map_or(Ok(()), |name| {
        Err(refused(format!(
            "ORDER BY {expr} computes with {name}, which is a column and another item of that name; give the item another name"
        )))
    })
}

/// Orders by the name of an item instead of computing it again.
pub(crate) fn order_by_name(expr: &mut Expr, aliases: &[(Ident, Expr)], scope: &Scope) {
    if let Expr::Identifier(word) = expr {
        if let Some((alias, _)) = aliases.iter().find(|(alias, _)| same(word, &alias.value)) {
            *word = alias.clone();
        } else if let NameMeaning::Column(_, column) = scope.find(std::slice::from_ref(word)) {
            word.value.clone_from(&column.name);
        }
        return;
    }
    let shown = expr.to_string();
    let is_column = matches!(expr, Expr::CompoundIdentifier(_));
    if let Some((alias, _)) = aliases.iter().find(|(_, item)| !is_column && item.to_string() == shown) {
        *expr = Expr::Identifier(alias.clone());
    }
}
