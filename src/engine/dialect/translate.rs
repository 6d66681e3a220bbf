//! A statement in the SQL of DuckDB as one that polars runs, with the names and units of its columns.

use std::ops::ControlFlow;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, Expr, Function, GroupByExpr, Ident, JoinConstraint, JoinOperator, NamedWindowExpr, ObjectName, OrderBy,
    OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableAlias, TableFactor, TableWithJoins, Value,
    VisitMut, VisitorMut, WindowType,
};
use sqlparser::dialect::{DuckDbDialect, GenericDialect};
use sqlparser::parser::{Parser, ParserError};

use super::functions::{is_of_rows, literal_number, rewritten, spread};
use super::items::{aliases_of, expand_stars, name_items, order_by_name, resolve_aliases};
use super::lowering::{split_groups, split_qualify};
use super::parts::{
    Columns, Each, constraint_of, derived, is_of_columns, last_word, named, refused, renamed, unknown, with,
};
use super::scope::{Column, Found, Relation, Scope, columns_of, same};
use super::window_calls::WindowCall;
use crate::engine::error::QueryError;
use crate::engine::front_matter::ColumnUnit;
use crate::schema;

/// A statement that polars runs.
pub struct Translated {
    pub sql: String,
    /// What its `window_…` functions compute.
    pub windows: Vec<WindowCall>,
    /// The unit of each column, where they are known.
    pub units: Option<Vec<ColumnUnit>>,
}

/// Gives the only value of a statement as a literal.
pub type Scalar<'a> = dyn FnMut(&str, &[WindowCall]) -> Result<Expr, QueryError> + 'a;

/// Translates a statement; `None` where it cannot be parsed, which the engine then explains.
///
/// # Errors
/// When polars has nothing for a part of it, or a subquery in the place of a value cannot be run.
pub fn translate(sql: &str, scalar: &mut Scalar<'_>) -> Result<Option<Translated>, QueryError> {
    let Some(mut query) = parsed(sql) else { return Ok(None) };
    let mut translator = Translator {
        ctes: Vec::new(),
        windows: Vec::new(),
        scalar,
        outer: Vec::new(),
        subqueries: 0,
        steps: Vec::new(),
        depth: 0,
        nested: 0,
    };
    let columns = translator.query(&mut query)?;
    query.with = Some(std::mem::take(&mut translator.steps)).filter(|steps| !steps.is_empty()).map(with);
    let units = columns.map(|columns| columns.iter().map(|column| column.meaning.unit(&column.name, true)).collect());
    Ok(Some(Translated { sql: query.to_string(), windows: translator.windows, units }))
}

fn parsed(sql: &str) -> Option<Query> {
    let parse = |result: Result<Vec<Statement>, ParserError>| match <[Statement; 1]>::try_from(result.ok()?) {
        Ok([Statement::Query(query)]) => Some(*query),
        _ => None,
    };
    // The second knows `//`, which the first takes for two divisions.
    parse(Parser::parse_sql(&GenericDialect {}, sql)).or_else(|| parse(Parser::parse_sql(&DuckDbDialect {}, sql)))
}

struct Translator<'a, 'b> {
    /// The common table expressions seen so far, translated.
    ctes: Vec<(Cte, Columns)>,
    windows: Vec<WindowCall>,
    scalar: &'a mut Scalar<'b>,
    /// What the queries around the present one see.
    outer: Vec<Scope>,
    /// Subqueries in FROM so far.
    subqueries: usize,
    /// What the statement reads, each after what it reads itself. polars knows the functions of windows here, and in no subquery.
    steps: Vec<Cte>,
    depth: usize,
    /// Queries around the present one that have expressions which only they see.
    nested: usize,
}

impl Translator<'_, '_> {
    fn query(&mut self, query: &mut Query) -> Result<Columns, QueryError> {
        let known = self.ctes.len();
        self.depth += 1;
        let is_nested = self.depth > 1 && query.with.is_some();
        self.nested += usize::from(is_nested);
        if let Some(with) = &mut query.with {
            if with.recursive {
                return Err(refused(
                    "polars has no WITH RECURSIVE; DuckDB has it, over a dataset of `wavesieve convert`",
                ));
            }
            for cte in &mut with.cte_tables {
                let columns = self.query(&mut cte.query)?;
                if self.depth == 1 {
                    self.steps.push(cte.clone());
                }
                self.ctes.push((cte.clone(), renamed(columns, &cte.alias)));
            }
        }
        let columns = self.body(&mut query.body, query.order_by.as_mut())?;
        // polars orders what is united by no name but of what it is made of.
        if query.order_by.is_some() && matches!(*query.body, SetExpr::SetOperation { .. }) {
            self.set_apart(query);
        }
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = &mut query.order_by {
            for order in orders {
                // polars puts what is missing first where the order descends.
                order.options.nulls_first = order.options.nulls_first.or(Some(false));
            }
        }
        self.ctes.truncate(known);
        self.nested -= usize::from(is_nested);
        self.depth -= 1;
        Ok(columns)
    }

    fn body(&mut self, body: &mut SetExpr, order: Option<&mut OrderBy>) -> Result<Columns, QueryError> {
        match body {
            SetExpr::Select(select) => self.select(select, order),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                let (left, right) = (self.body(left, None)?, self.body(right, None)?);
                let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
                let united = |(one, other): (Column, Column)| Column {
                    name: one.name,
                    meaning: one.meaning.united(other.meaning),
                };
                Ok(Some(left.into_iter().zip(right).map(united).collect()))
            }
            _ => Ok(None),
        }
    }

    fn select(&mut self, select: &mut Select, mut order: Option<&mut OrderBy>) -> Result<Columns, QueryError> {
        let scope = self.from(&mut select.from)?;
        self.name_windows(select, order.as_deref_mut())?;
        expand_stars(select, &scope);
        let columns = name_items(select, &scope);
        let aliases = aliases_of(select);
        resolve_aliases(select, &scope, &aliases);
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = order.as_deref_mut() {
            for order in orders {
                order_by_name(&mut order.expr, &aliases, &scope);
            }
        }
        let outer = match split_qualify(select, &scope)? {
            Some(outer) => Some(outer),
            None => split_groups(select, order.as_deref_mut()),
        };
        let Some(outer) = outer else {
            self.rewrite_all(select, order, &scope)?;
            return Ok(columns);
        };
        *select = outer;
        // What it reads now is a query of ours.
        let Some(inner) = derived(select) else { return Ok(columns) };
        self.query(inner)?;
        if let Some(table) = select.from.first_mut() {
            self.step(&mut table.relation);
        }
        let inner = Scope { relations: vec![unknown("")] };
        self.rewrite_all(select, order, &inner)?;
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
        for expr in select.selection.iter_mut().chain(&mut select.having).chain(&mut select.qualify) {
            self.rewrite(expr, scope)?;
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for key in keys {
                self.rewrite(key, scope)?;
            }
        }
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = order {
            for order in orders {
                self.rewrite(&mut order.expr, scope)?;
            }
        }
        Ok(())
    }

    fn from(&mut self, from: &mut [TableWithJoins]) -> Result<Scope, QueryError> {
        let mut scope = Scope::default();
        for table in from {
            let relation = self.relation(&mut table.relation)?;
            scope.relations.push(relation);
            for join in &mut table.joins {
                let mut relation = self.relation(&mut join.relation)?;
                let is_outer = matches!(
                    join.join_operator,
                    JoinOperator::Left(_)
                        | JoinOperator::LeftOuter(_)
                        | JoinOperator::Right(_)
                        | JoinOperator::RightOuter(_)
                        | JoinOperator::FullOuter(_)
                );
                let constraint = constraint_of(&mut join.join_operator);
                if let Some(JoinConstraint::On(condition)) = &constraint
                    && is_outer
                    && !is_of_columns(condition)
                {
                    // polars would leave out rows that have no partner.
                    return Err(refused(
                        "polars joins outer rows by equal columns alone; put other conditions into a subquery, as in JOIN (SELECT … WHERE …)",
                    ));
                }
                if let Some(JoinConstraint::Using(names)) = &constraint {
                    relation.hidden = names.iter().filter_map(last_word).collect();
                }
                scope.relations.push(relation);
                if let Some(JoinConstraint::On(condition)) = constraint {
                    let seen = scope.clone();
                    self.rewrite(condition, &seen)?;
                }
            }
        }
        Ok(scope)
    }

    fn relation(&mut self, factor: &mut TableFactor) -> Result<Relation, QueryError> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let Some(word) = last_word(name) else { return Ok(unknown("")) };
                let shown = alias.as_ref().map_or(word.clone(), |alias| alias.name.value.clone());
                let cte = self.ctes.iter().rev().find(|(cte, _)| same(&cte.alias.name, &word));
                if let Some((cte, columns)) = cte {
                    *name = ObjectName::from(vec![cte.alias.name.clone()]);
                    let columns = alias.as_ref().map_or(columns.clone(), |alias| renamed(columns.clone(), alias));
                    return Ok(Relation { name: shown, columns, hidden: Vec::new() });
                }
                let Some(table) = schema::table(&word.to_lowercase()) else { return Ok(unknown(&shown)) };
                if table.name != word {
                    *name = ObjectName::from(vec![Ident::new(table.name)]);
                }
                let columns = Some(columns_of(table));
                let columns = alias.as_ref().map_or(columns.clone(), |alias| renamed(columns.clone(), alias));
                Ok(Relation { name: shown, columns, hidden: Vec::new() })
            }
            TableFactor::Derived { subquery, alias, lateral, .. } => {
                if *lateral {
                    return Err(refused("polars has no LATERAL subquery; join a grouped subquery"));
                }
                let columns = self.query(subquery)?;
                self.subqueries += 1;
                let number = self.subqueries;
                // polars wants a name for each.
                let alias = alias.get_or_insert_with(|| named(&format!("subquery_{number}")));
                let columns = renamed(columns, alias);
                let relation = Relation { name: alias.name.value.clone(), columns, hidden: Vec::new() };
                self.step(factor);
                Ok(relation)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                let scope = self.from(std::slice::from_mut(table_with_joins))?;
                scope.relations.into_iter().next().ok_or_else(|| refused("a join in parentheses joins nothing"))
            }
            _ => Ok(unknown("")),
        }
    }

    /// Makes what is united a step of the statement.
    fn set_apart(&mut self, query: &mut Query) {
        let whole = super::lowering::query_of("SELECT * FROM (SELECT 1) AS united");
        let Some(SetExpr::Select(mut select)) = whole.map(|whole| *whole.body) else { return };
        let Some(from) = select.from.first_mut() else { return };
        if let TableFactor::Derived { subquery, .. } = &mut from.relation {
            std::mem::swap(&mut subquery.body, &mut query.body);
        }
        self.step(&mut from.relation);
        *query.body = SetExpr::Select(select);
    }

    /// Makes a subquery in FROM a step of the statement.
    fn step(&mut self, factor: &mut TableFactor) {
        let TableFactor::Derived { subquery, alias: Some(alias), .. } = &*factor else { return };
        let is_select = !matches!(subquery.body.as_ref(), SetExpr::Values(_));
        if self.nested > 0 || !alias.columns.is_empty() || !is_select {
            return;
        }
        let name = format!("step_{}", self.steps.len());
        let Some(mut table) = super::lowering::table(&name) else { return };
        if let TableFactor::Table { alias: given, .. } = &mut table {
            *given = Some(alias.clone());
        }
        self.steps.push(Cte {
            alias: TableAlias { explicit: false, ..named(&name) },
            query: subquery.clone(),
            from: None,
            materialized: None,
            closing_paren_token: AttachedToken::empty(),
        });
        *factor = table;
    }

    /// Puts what named windows are in the place of their names.
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
        let _ = select.visit(&mut Each(&mut place));
        if let Some(order) = order {
            let _ = order.visit(&mut Each(&mut place));
        }
        Ok(())
    }

    /// Brings an expression into the form of polars.
    fn rewrite(&mut self, expr: &mut Expr, scope: &Scope) -> Result<(), QueryError> {
        let mut visitor = Rewriter { translator: self, scope, depth: 0 };
        match expr.visit(&mut visitor) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        }
    }

    fn subquery(&mut self, query: &mut Query, scope: &Scope) -> Result<Columns, QueryError> {
        self.outer.push(scope.clone());
        let columns = self.query(query);
        self.outer.pop();
        columns
    }

    /// The value of a subquery that stands for one.
    fn value(&mut self, query: &mut Query, scope: &Scope) -> Result<Expr, QueryError> {
        if let Some(word) = outside(query, scope, self) {
            return Err(refused(format!(
                "the subquery that stands for a value depends on {word} of the row outside, which polars cannot do; join a grouped subquery"
            )));
        }
        self.subquery(query, scope)?;
        let mut query = query.clone();
        let is_step = |cte: &Cte| self.steps.iter().any(|step| step.alias.name == cte.alias.name);
        let others = self.ctes.iter().map(|(cte, _)| cte).filter(|cte| !is_step(cte)).cloned();
        let ctes = self.steps.iter().cloned().chain(others);
        let own = query.with.take().map(|with| with.cte_tables).unwrap_or_default();
        let cte_tables: Vec<Cte> = ctes.chain(own).collect();
        if !cte_tables.is_empty() {
            query.with = Some(with(cte_tables));
        }
        (self.scalar)(&query.to_string(), &self.windows)
    }
}

/// A name in a subquery that only the query around it knows.
fn outside(query: &Query, scope: &Scope, translator: &mut Translator<'_, '_>) -> Option<String> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let mut from = select.from.clone();
    let mut none = |_: &str, _: &[WindowCall]| Err(refused("a subquery in FROM that depends on a value"));
    let mut inner = Translator {
        ctes: translator.ctes.clone(),
        windows: Vec::new(),
        scalar: &mut none,
        outer: Vec::new(),
        subqueries: 0,
        steps: Vec::new(),
        depth: 0,
        nested: 0,
    };
    let own = inner.from(&mut from).ok()?;
    let mut found = None;
    let mut look = |expr: &mut Expr| {
        let parts = match expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(parts) => parts.as_slice(),
            _ => return,
        };
        if own.find(parts) == Found::Nothing && matches!(scope.find(parts), Found::Column(..)) {
            found = Some(expr.to_string());
        }
    };
    let _ = select.clone().visit(&mut Each(&mut look));
    found
}

struct Rewriter<'t, 'a, 'b> {
    translator: &'t mut Translator<'a, 'b>,
    scope: &'t Scope,
    depth: usize,
}

impl VisitorMut for Rewriter<'_, '_, '_> {
    type Break = QueryError;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<QueryError> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<QueryError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<QueryError> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match self.rewritten(expr) {
            Ok(Some(other)) => *expr = other,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}

impl Rewriter<'_, '_, '_> {
    fn rewritten(&mut self, expr: &mut Expr) -> Result<Option<Expr>, QueryError> {
        if let Expr::Function(function) = expr
            && is_of_rows(function)
            && !self.scope.relations.is_empty()
        {
            spread(function, self.scope.any_column())?;
        }
        match expr {
            Expr::Identifier(name) => {
                if let Found::Column(_, column) = self.scope.find(std::slice::from_ref(name)) {
                    name.value.clone_from(&column.name);
                }
                Ok(None)
            }
            Expr::CompoundIdentifier(parts) => {
                if let Found::Column(relation, column) = self.scope.find(parts)
                    && let [qualifier, name] = parts.as_mut_slice()
                {
                    qualifier.value.clone_from(&relation.name);
                    name.value.clone_from(&column.name);
                }
                Ok(None)
            }
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) => Ok(literal_number(digits)),
                _ => Ok(None),
            },
            Expr::Subquery(query) => self.translator.value(query, self.scope).map(Some),
            Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } => {
                self.translator.subquery(subquery, self.scope)?;
                Ok(None)
            }
            Expr::Function(function) if function.over.is_some() => match WindowCall::of(function)? {
                Some((call, arguments)) => {
                    let name = format!("window_{}", self.translator.windows.len());
                    self.translator.windows.push(call);
                    Ok(Some(super::functions::call_of(&name, arguments)))
                }
                None => rewritten(expr),
            },
            _ => rewritten(expr),
        }
    }
}
