//! Translates a statement in the SQL of DuckDB into one that polars runs, with the names and units of its columns.

use std::ops::ControlFlow;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, Expr, Function, GroupByExpr, Ident, NamedWindowExpr, OrderBy, OrderByKind, Query, Select, SelectItem, SetExpr,
    SetOperator, Statement, TableAlias, TableFactor, VisitMut, WindowType, visit_expressions,
};
use sqlparser::dialect::{Dialect, DuckDbDialect, GenericDialect};
use sqlparser::parser::{Parser, ParserError, ParserOptions};

use super::aggregates::check_aggregates;
use super::binding::bind;
use super::from::Sources;
use super::items::{aliases_of, check_order, expand_stars, name_columns, name_items, order_by_name, resolve_aliases};
use super::keys::{drop_constant_keys, part_quantiles_from_keys, resolve_having, spread_constants, spread_keys};
use super::known::check;
use super::listed::{one_row, values_apart};
use super::lowering::{distinct_on, is_one_row, query_of, split_groups, split_qualify, table};
use super::parts::{Columns, Each, all_of, derived, named, refused, renamed, with};
use super::regexps::is_own;
use super::scope::{Column, Relation, Scope, same};
use super::window_calls::WindowCall;
use crate::declarations::ColumnUnit;
use crate::depth::{is_too_deep, only_query};
use crate::error::QueryError;
use crate::failures::reasons::unreadable;

/// A statement that polars runs.
pub(crate) struct Translated {
    pub sql: String,
    /// Calls that its `window_…` functions compute.
    pub windows: Vec<WindowCall>,
    /// The unit of each column, if they are known.
    pub units: Option<Vec<ColumnUnit>>,
    /// The name of each column, if they are known.
    pub names: Option<Vec<String>>,
}

/// Returns the single value of a statement as a literal.
pub type Scalar<'a> = dyn FnMut(&str, &[WindowCall]) -> Result<Expr, QueryError> + 'a;

/// Translates a statement.
///
/// # Errors
/// When it is not a SELECT, polars has nothing for a part of it, or a scalar subquery cannot be run.
pub(crate) fn translate(sql: &str, scalar: &mut Scalar<'_>) -> Result<Translated, QueryError> {
    let mut query = parsed(sql)?;
    check(&query)?;
    let mut translator = Translator::new(scalar);
    let columns = translator.query(&mut query)?;
    query.with = Some(translator.steps).filter(|steps| !steps.is_empty()).map(with);
    let names = columns.as_ref().map(|columns| columns.iter().map(|column| column.name.clone()).collect());
    let units = columns.map(|columns| columns.iter().map(|column| column.meaning.unit(&column.name, true)).collect());
    Ok(Translated { sql: query.to_string(), windows: translator.windows, units, names })
}

/// Whether a part of a statement calls a function of this program.
fn calls_own(side: &SetExpr) -> bool {
    let is_own = |expr: &Expr| match expr {
        Expr::Function(function) => is_own(&function.name.to_string()),
        _ => false,
    };
    let found =
        visit_expressions(side, |expr| if is_own(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    found.is_break()
}

fn parsed(sql: &str) -> Result<Query, QueryError> {
    let statements = |dialect: &dyn Dialect| -> Result<Vec<Statement>, ParserError> {
        if is_too_deep(sql) {
            return Err(ParserError::RecursionLimitExceeded);
        }
        let options = ParserOptions { trailing_commas: true, ..ParserOptions::default() };
        Parser::new(dialect).with_options(options).try_with_sql(sql)?.parse_statements()
    };
    // The DuckDB dialect knows `//`, which the generic one reads as two divisions.
    let read = statements(&GenericDialect {});
    let read = read.or_else(|error| statements(&DuckDbDialect {}).map_err(|_| unreadable(sql, &error)))?;
    let count = read.len();
    match only_query(read) {
        Some(mut query) => {
            bind(&mut query);
            Ok(*query)
        }
        None if count == 1 => Err(refused("it is not a SELECT statement; start with SELECT or WITH")),
        None => Err(refused(format!("these are {count} statements; run one at a time"))),
    }
}

/// A common table expression, or a subquery in FROM, that is a step of the statement.
#[derive(Clone)]
pub(crate) struct NamedStep {
    /// The name by which the statement reads it.
    pub name: String,
    pub step: Ident,
    pub columns: Columns,
}

/// Brings a statement into the form of polars, part by part.
pub(crate) struct Translator<'a, 'b> {
    /// The steps that the present query can read by a name.
    pub steps_by_name: Vec<NamedStep>,
    /// Calls that the functions of ordered windows compute.
    pub windows: Vec<WindowCall>,
    /// Computes the value of a subquery.
    pub scalar: &'a mut Scalar<'b>,
    /// Scopes of the queries around the present one.
    pub outer: Vec<Scope>,
    /// Subqueries in FROM so far.
    pub subqueries: usize,
    /// Steps that the statement reads, each after the steps it reads itself. polars knows the functions of windows in steps, but not in
    /// subqueries.
    pub steps: Vec<Cte>,
    depth: usize,
}

impl<'a, 'b> Translator<'a, 'b> {
    /// A translator that has seen no part of a statement.
    pub fn new(scalar: &'a mut Scalar<'b>) -> Self {
        Self {
            steps_by_name: Vec::new(),
            windows: Vec::new(),
            scalar,
            outer: Vec::new(),
            subqueries: 0,
            steps: Vec::new(),
            depth: 0,
        }
    }
}

impl Translator<'_, '_> {
    /// Brings a query into the form of polars, without its common table expressions, which become steps.
    ///
    /// # Errors
    /// When polars has nothing for a part of it.
    pub fn query(&mut self, query: &mut Query) -> Result<Columns, QueryError> {
        let known = self.steps_by_name.len();
        self.depth += 1;
        if let Some(with) = query.with.take() {
            if with.recursive {
                return Err(refused(
                    "polars has no WITH RECURSIVE; DuckDB has it, over a dataset of `wavesieve convert`",
                ));
            }
            for cte in with.cte_tables {
                self.expression(cte)?;
            }
        }
        let columns = self.body(&mut query.body, query.order_by.as_mut())?;
        if matches!(&query.order_by, Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) if orders.is_empty())
        {
            query.order_by = None;
        }
        // polars orders a set operation only by column names of its inputs.
        if query.order_by.is_some() && matches!(*query.body, SetExpr::SetOperation { .. }) {
            self.set_apart(query);
        }
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = &mut query.order_by {
            for order in orders {
                // polars puts missing values first in descending order.
                order.options.nulls_first = order.options.nulls_first.or(Some(false));
            }
        }
        self.steps_by_name.truncate(known);
        self.depth -= 1;
        Ok(columns)
    }

    /// Makes a common table expression a step.
    fn expression(&mut self, mut cte: Cte) -> Result<(), QueryError> {
        if matches!(cte.query.body.as_ref(), SetExpr::Values(_)) {
            values_apart(&mut cte);
        }
        name_columns(&mut cte.query, &mut cte.alias);
        let columns = renamed(self.query(&mut cte.query)?, &cte.alias);
        let name = cte.alias.name.value;
        let is_bare = name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_'));
        let is_taken = self.steps.iter().any(|step| step.alias.name.value == name);
        let step = if self.depth == 1 && is_bare && !is_taken { name.clone() } else { self.unused_name() };
        let step = Ident::new(step);
        let alias = TableAlias { name: step.clone(), ..cte.alias };
        self.steps.push(Cte { alias, materialized: None, ..cte });
        self.steps_by_name.push(NamedStep { name, step, columns });
        Ok(())
    }

    fn unused_name(&self) -> String {
        let is_taken = |name: &String| self.steps.iter().any(|step| step.alias.name.value == *name);
        let names = (self.steps.len()..).map(|number| format!("step_{number}"));
        names.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// Makes a query a step and returns its name.
    pub(crate) fn add_step(&mut self, query: Query) -> String {
        let name = self.unused_name();
        self.steps.push(Cte {
            alias: TableAlias { explicit: false, ..named(&name) },
            query: Box::new(query),
            from: None,
            materialized: None,
            closing_paren_token: AttachedToken::empty(),
        });
        name
    }

    fn body(&mut self, body: &mut SetExpr, order: Option<&mut OrderBy>) -> Result<Columns, QueryError> {
        match body {
            SetExpr::Select(select) => self.select(select, order),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { op, left, right, .. } => {
                let op = *op;
                let (left, right) = (self.side(left, op)?, self.side(right, op)?);
                let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
                let united = |(one, other): (Column, Column)| Column {
                    name: one.name,
                    meaning: one.meaning.united(other.meaning),
                    number: one.number.with(other.number),
                };
                Ok(Some(left.into_iter().zip(right).map(united).collect()))
            }
            SetExpr::Values(_) => self.listed(body).map(Some),
            _ => Ok(None),
        }
    }

    /// One side of a set operation. polars treats a nested operation as one of the same kind, unless it is a query of its own.
    fn side(&mut self, side: &mut SetExpr, around: SetOperator) -> Result<Columns, QueryError> {
        let columns = self.body(side, None)?;
        // polars does not know our functions in the sides of set operations.
        if matches!(side, SetExpr::Select(_))
            && calls_own(side)
            && let Some(mut query) = query_of(include_str!("sql/united.sql"))
        {
            std::mem::swap(query.body.as_mut(), side);
            self.set_apart_side(query, side);
        }
        if matches!(side, SetExpr::SetOperation { op, .. } if *op != around)
            && let Some(mut query) = query_of(include_str!("sql/one.sql"))
        {
            std::mem::swap(query.body.as_mut(), side);
            *side = SetExpr::Query(Box::new(query));
        }
        Ok(columns)
    }

    fn select(&mut self, select: &mut Select, mut order: Option<&mut OrderBy>) -> Result<Columns, QueryError> {
        let Sources { scope, conditions } = self.from(&mut select.from)?;
        if select.from.is_empty() {
            // Without a table, polars computes common parts of two columns over no row, and has no WHERE.
            select.from.extend(one_row());
        }
        select.selection = all_of(select.selection.take().into_iter().chain(conditions).collect());
        self.name_windows(select, order.as_deref_mut())?;
        expand_stars(select, &scope)?;
        drop_constant_keys(select, &scope);
        if let Some(order) = order.as_deref_mut().filter(|_| is_one_row(select)) {
            // polars would order the only row of aggregates by as many values as there are input rows.
            order.kind = OrderByKind::Expressions(Vec::new());
        }
        let columns = name_items(select, &scope);
        spread_keys(select, &scope);
        part_quantiles_from_keys(select, order.as_deref_mut(), &scope)?;
        spread_constants(select, order.is_some(), &scope);
        let aliases = aliases_of(select);
        resolve_aliases(select, &scope, &aliases);
        resolve_having(select, &aliases);
        distinct_on(select, order.as_deref(), &aliases, &scope)?;
        check_aggregates(select, &scope)?;
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = order.as_deref_mut() {
            for order in orders {
                check_order(&order.expr, &aliases, &scope)?;
                order_by_name(&mut order.expr, &aliases, &scope);
            }
        }
        let outer = match split_qualify(select, &scope)? {
            Some(outer) => Some(outer),
            None => split_groups(select, order.as_deref_mut(), &scope)?,
        };
        let Some(outer) = outer else {
            self.rewrite_all(select, order, &scope)?;
            return Ok(columns);
        };
        *select = outer;
        // The outer query now reads a subquery made here.
        let Some(inner) = derived(select) else { return Ok(columns) };
        let given = self.query(inner)?;
        if let Some(table) = select.from.first_mut() {
            self.step(&mut table.relation, &given);
        }
        let inner = Relation { name: String::new(), columns: given, hidden: Vec::new() };
        self.rewrite_all(select, order, &Scope { relations: vec![inner], merged: Vec::new() })?;
        Ok(columns)
    }

    fn rewrite_all(
        &mut self,
        select: &mut Select,
        order: Option<&mut OrderBy>,
        scope: &Scope,
    ) -> Result<(), QueryError> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                self.rewrite(expr, scope)?;
            }
        }
        if let Some(condition) = select.selection.take() {
            select.selection = self.rewrite_condition(condition, scope)?;
        }
        for expr in select.having.iter_mut().chain(&mut select.qualify) {
            self.rewrite(expr, scope)?;
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for key in keys {
                self.rewrite(key, scope)?;
            }
        }
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = order {
            let is_item = |word: &Ident| {
                let named = select.projection.iter().filter_map(|item| match item {
                    SelectItem::ExprWithAlias { alias, .. } => Some(alias),
                    _ => None,
                });
                named.into_iter().any(|alias| same(word, &alias.value))
            };
            for order in orders {
                // An item is computed once.
                if !matches!(&order.expr, Expr::Identifier(word) if is_item(word)) {
                    self.rewrite(&mut order.expr, scope)?;
                }
            }
        }
        Ok(())
    }

    /// Makes one side of a set operation a step, which the side then reads. The caller has swapped the two.
    fn set_apart_side(&mut self, query: Query, side: &mut SetExpr) {
        let SetExpr::Select(select) = side else { return };
        let Some(from) = select.from.first_mut() else { return };
        if let TableFactor::Derived { subquery, .. } = &mut from.relation {
            **subquery = query;
        }
        self.step(&mut from.relation, &None);
    }

    /// Makes a set operation a step of the statement.
    fn set_apart(&mut self, query: &mut Query) {
        let whole = query_of(include_str!("sql/united.sql"));
        let Some(SetExpr::Select(mut select)) = whole.map(|whole| *whole.body) else { return };
        let Some(from) = select.from.first_mut() else { return };
        if let TableFactor::Derived { subquery, .. } = &mut from.relation {
            std::mem::swap(&mut subquery.body, &mut query.body);
        }
        self.step(&mut from.relation, &None);
        *query.body = SetExpr::Select(select);
    }

    /// Makes a subquery in FROM, which has these columns, a step of the statement.
    pub fn step(&mut self, factor: &mut TableFactor, columns: &Columns) {
        let TableFactor::Derived { subquery, alias: Some(alias), .. } = &*factor else { return };
        if !alias.columns.is_empty() || matches!(subquery.body.as_ref(), SetExpr::Values(_)) {
            return;
        }
        let name = self.add_step(subquery.as_ref().clone());
        let Some(mut table) = table(&name) else { return };
        if let TableFactor::Table { alias: given, .. } = &mut table {
            *given = Some(alias.clone());
        }
        self.steps_by_name.push(NamedStep { step: Ident::new(&name), name, columns: columns.clone() });
        *factor = table;
    }

    /// Replaces names of windows by their definitions.
    fn name_windows(&mut self, select: &mut Select, order: Option<&mut OrderBy>) -> Result<(), QueryError> {
        let windows = std::mem::take(&mut select.named_window);
        let spec = |word: &Ident| {
            let named = windows.iter().find(|window| same(word, &window.0.value))?;
            match &named.1 {
                NamedWindowExpr::WindowSpec(spec) => Some(spec.clone()),
                NamedWindowExpr::NamedWindow(_) => None,
            }
        };
        let mut place = |expr: &mut Expr| {
            let Expr::Function(Function { over: over @ Some(WindowType::NamedWindow(_)), .. }) = expr else { return };
            if let Some(WindowType::NamedWindow(word)) = over
                && let Some(spec) = spec(word)
            {
                *over = Some(WindowType::WindowSpec(spec));
            }
        };
        let _ = select.visit(&mut Each::new(&mut place));
        if let Some(order) = order {
            let _ = order.visit(&mut Each::new(&mut place));
        }
        Ok(())
    }
}
