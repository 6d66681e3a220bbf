//! Expressions in the form of polars, and the subqueries in them.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query, Select,
    SelectItem, SetExpr, UnaryOperator, Value, Visit, VisitMut, Visitor, VisitorMut,
};

use super::functions::{call_of, expression, is_of_rows, literal_number, name_of, rewritten, spread};
use super::lowering::query_of;
use super::parts::{Columns, all_of, conjuncts, refused, with};
use super::regexps::is_own;
use super::scope::{NameMeaning, Scope};
use super::translate::Translator;
use super::types::{Number, whole_type};
use super::window_calls::WindowCall;
use crate::error::QueryError;

/// Place of an expression in a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpressionPlace {
    /// A condition of WHERE, or one of several that AND joins.
    Condition,
    /// A part of such a condition.
    Where,
    /// Anywhere else.
    Elsewhere,
}

impl Translator<'_, '_> {
    /// Brings an expression into the form of polars.
    ///
    /// # Errors
    /// When polars has nothing for a part of it.
    pub fn rewrite(&mut self, expr: &mut Expr, scope: &Scope) -> Result<(), QueryError> {
        self.rewrite_at(expr, scope, ExpressionPlace::Elsewhere)
    }

    /// Like [`Self::rewrite`], for the condition of WHERE.
    pub(crate) fn rewrite_condition(&mut self, condition: Expr, scope: &Scope) -> Result<Option<Expr>, QueryError> {
        let mut parts = conjuncts(condition);
        for part in &mut parts {
            let place = match part {
                Expr::Exists { .. } | Expr::InSubquery { .. } => ExpressionPlace::Condition,
                _ => ExpressionPlace::Where,
            };
            as_truth(part, scope);
            self.rewrite_at(part, scope, place)?;
        }
        Ok(all_of(parts))
    }

    fn rewrite_at(&mut self, expr: &mut Expr, scope: &Scope, place: ExpressionPlace) -> Result<(), QueryError> {
        let mut visitor = Rewriter { translator: self, scope, place, depth: 0, casts: Vec::new() };
        match VisitMut::visit(expr, &mut visitor) {
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

    /// The value of a scalar subquery.
    ///
    /// # Errors
    /// When it depends on the outer row, or returns no value.
    pub fn value(&mut self, query: &mut Query, scope: &Scope) -> Result<Expr, QueryError> {
        if let Some(word) = self.outside(query, scope) {
            return Err(refused(format!(
                "the scalar subquery depends on {word} of the outer row, which polars cannot do; join a grouped subquery"
            )));
        }
        self.value_apart(query, scope)
    }

    /// Like [`Self::value`], for a subquery that does not depend on the outer row.
    fn value_apart(&mut self, query: &mut Query, scope: &Scope) -> Result<Expr, QueryError> {
        self.subquery(query, scope)?;
        let mut query = query.clone();
        query.with = Some(with(self.steps.clone())).filter(|with| !with.cte_tables.is_empty());
        (self.scalar)(&query.to_string(), &self.windows)
    }

    /// Whether a subquery has rows: a value if it does not depend on the outer row, and `None` if polars joins it.
    fn exists(&mut self, query: &mut Query, scope: &Scope, place: ExpressionPlace) -> Result<Option<Expr>, QueryError> {
        let Some(word) = self.outside(query, scope) else {
            let wrong = || refused("EXISTS takes a query; start it with SELECT");
            let mut counted = query_of(include_str!("sql/has_rows.sql")).ok_or_else(wrong)?;
            let SetExpr::Select(select) = counted.body.as_mut() else { return Err(wrong()) };
            *super::parts::derived(select).ok_or_else(wrong)? = query.clone();
            return self.value_apart(&mut counted, scope).map(Some);
        };
        if place != ExpressionPlace::Condition {
            return Err(refused(format!(
                "the subquery of EXISTS depends on {word} of the outer row, which polars can do only if EXISTS is a condition of WHERE by itself; use SEMI JOIN"
            )));
        }
        if let Some(word) = self.outside_of_equal(query, scope) {
            return Err(refused(format!(
                "polars can do EXISTS only if the subquery depends on the outer row by equal columns, not by {word}; use a join"
            )));
        }
        self.subquery(query, scope)?;
        self.within(query, scope)?;
        Ok(None)
    }

    /// The values of a subquery after IN.
    fn values(&mut self, query: &mut Query, scope: &Scope, place: ExpressionPlace) -> Result<(), QueryError> {
        if place == ExpressionPlace::Elsewhere {
            return Err(refused(
                "polars has IN (SELECT …) in WHERE alone; LEFT JOIN the distinct values, and test the joined column with IS NULL",
            ));
        }
        if let Some(word) = self.outside_of_equal(query, scope) {
            return Err(refused(format!(
                "polars can do IN only if the subquery depends on the outer row by equal columns, not by {word}; use a join"
            )));
        }
        self.subquery(query, scope)?;
        self.within(query, scope)
    }

    /// Makes a subquery a step if it has functions that polars knows only in steps.
    fn within(&mut self, query: &mut Query, scope: &Scope) -> Result<(), QueryError> {
        let Some(name) = own_function(query) else { return Ok(()) };
        let outside = self.outside(query, scope);
        let (None, Some(item)) = (outside, first_item(&mut query.body)) else {
            return Err(refused(format!(
                "{name} in a subquery after EXISTS or IN is more than polars can do; compute it in a WITH expression, and read that in the subquery"
            )));
        };
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item.clone() else {
            return Ok(());
        };
        *item = SelectItem::ExprWithAlias { expr, alias: Ident::new("member") };
        let step = self.add_step(query.clone());
        if let Some(read) = query_of(&format!(include_str!("sql/members.sql"), step = step)) {
            *query = read;
        }
        Ok(())
    }

    /// A name in a subquery that only a query around it knows.
    fn outside(&mut self, query: &Query, scope: &Scope) -> Option<String> {
        let SetExpr::Select(select) = query.body.as_ref() else { return None };
        self.scope_of(select)?;
        let mut look = Outside { translator: self, scope, inside: Vec::new(), found: None };
        let _ = Visit::visit(select, &mut look);
        look.found
    }

    /// Like [`Self::outside`], but ignores conditions that compare the name with a column.
    fn outside_of_equal(&mut self, query: &Query, scope: &Scope) -> Option<String> {
        let mut query = query.clone();
        if let SetExpr::Select(select) = query.body.as_mut() {
            let is_column = |expr: &Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            let is_equal = |part: &Expr| match part {
                Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => is_column(left) && is_column(right),
                _ => false,
            };
            let parts = select.selection.take().map(conjuncts).unwrap_or_default();
            select.selection = all_of(parts.into_iter().filter(|part| !is_equal(part)).collect());
        }
        self.outside(&query, scope)
    }

    /// The scope that the FROM clause of a subquery gives.
    fn scope_of(&self, select: &Select) -> Option<Scope> {
        let mut from = select.from.clone();
        let mut none = |_: &str, _: &[WindowCall]| Err(refused("a subquery in FROM that depends on a value"));
        let mut inner = Translator::new(&mut none);
        inner.steps_by_name.clone_from(&self.steps_by_name);
        inner.from(&mut from).ok().map(|sources| sources.scope)
    }
}

/// Looks for names that only a query around the subquery knows.
struct Outside<'t, 'a, 'b> {
    translator: &'t Translator<'a, 'b>,
    /// The names that the query around the subquery sees.
    scope: &'t Scope,
    /// The names that the queries around the present expression see, if they are known.
    inside: Vec<Option<Scope>>,
    found: Option<String>,
}

impl Visitor for Outside<'_, '_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let select = match query.body.as_ref() {
            SetExpr::Select(select) => Some(select),
            _ => None,
        };
        self.inside.push(select.and_then(|select| self.translator.scope_of(select)));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.inside.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.inside.push(self.translator.scope_of(select));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.inside.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let parts = match expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(parts) => parts.as_slice(),
            _ => return ControlFlow::Continue(()),
        };
        let is_inside = self.inside.iter().flatten().any(|scope| scope.find(parts) != NameMeaning::Nothing);
        let mut around = self.translator.outer.iter().chain([self.scope]);
        if !is_inside && around.any(|scope| matches!(scope.find(parts), NameMeaning::Column(..))) {
            self.found = Some(expr.to_string());
        }
        ControlFlow::Continue(())
    }
}

/// The first function in a query that polars knows only in steps.
fn own_function(query: &Query) -> Option<String> {
    struct Look(Option<String>);
    impl Visitor for Look {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            if let Expr::Function(function) = expr
                && is_own(&name_of(function))
            {
                self.0 = Some(shown_name(&name_of(function)).to_owned());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }
    }
    let mut look = Look(None);
    let _ = Visit::visit(query, &mut look);
    look.0
}

/// Whether an expression always has whole values.
fn has_nothing_to_round(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => has_nothing_to_round(inner),
        other => matches!(other, Expr::Floor { .. } | Expr::Ceil { .. }),
    }
}

fn is_whole_division(op: &BinaryOperator) -> bool {
    matches!(op, BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide)
}

/// Turns a number into a condition, because polars would combine numbers bit by bit.
fn as_truth(expr: &mut Expr, scope: &Scope) {
    if matches!(expr, Expr::Value(value) if value.value == Value::Null) {
        // polars refuses NULL without a type.
        if let Some(unknown) = expression("CAST(NULL AS BOOLEAN)") {
            *expr = unknown;
        }
        return;
    }
    if Number::infer(expr, scope) == Number::Open {
        return;
    }
    if let Some(zero) = expression("0") {
        let left = Box::new(Expr::Nested(Box::new(expr.clone())));
        *expr = Expr::BinaryOp { left, op: BinaryOperator::NotEq, right: Box::new(zero) };
    }
}

/// Refuses a number computed from literals that overflows 64 bits; polars returns a missing value for it.
fn check_constant(expr: &Expr) -> Result<(), QueryError> {
    let Expr::BinaryOp { left, op, right } = expr else { return Ok(()) };
    match (constant(left), constant(right), constant(expr)) {
        (Some(_), Some(_), Some(value)) if i64::try_from(value).is_err() => {
            Err(refused(format!("{left} {op} {right} overflows 64-bit integers; cast an operand to DOUBLE")))
        }
        _ => Ok(()),
    }
}

/// The integer value of an expression of literals.
pub fn constant(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Nested(inner) => constant(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => constant(expr)?.checked_neg(),
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        Expr::BinaryOp { left, op, right } => {
            let (left, right) = (constant(left)?, constant(right)?);
            match op {
                BinaryOperator::Plus => left.checked_add(right),
                BinaryOperator::Minus => left.checked_sub(right),
                BinaryOperator::Multiply => left.checked_mul(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Name in a statement for a function of ours.
fn shown_name(name: &str) -> &str {
    match name {
        "to_whole" => "CAST",
        "try_to_whole" => "TRY_CAST",
        "part_of_text" => "substr",
        "round_half_away" => "round",
        "value_of_greatest" => "arg_max",
        "value_of_least" => "arg_min",
        window if window.starts_with("window_") => "a function over a window",
        other => other,
    }
}

/// Aggregates of a condition.
const TAKES_TRUTH: &[&str] = &["count_if", "countif", "bool_and", "bool_or"];

fn first_argument(function: &mut Function) -> Option<&mut Expr> {
    let FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.first_mut() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(first))) => Some(first),
        _ => None,
    }
}

/// The only item of a query, that of its first SELECT.
fn first_item(body: &mut SetExpr) -> Option<&mut SelectItem> {
    match body {
        SetExpr::Select(select) => match select.projection.as_mut_slice() {
            [item] => Some(item),
            _ => None,
        },
        SetExpr::SetOperation { left, .. } => first_item(left),
        SetExpr::Query(query) => first_item(&mut query.body),
        _ => None,
    }
}

struct Rewriter<'t, 'a, 'b> {
    translator: &'t mut Translator<'a, 'b>,
    scope: &'t Scope,
    place: ExpressionPlace,
    depth: usize,
    /// Numbers cast by the casts around the present expression, before it is rewritten.
    casts: Vec<Number>,
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

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<QueryError> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Cast { expr: inner, .. } => self.casts.push(Number::infer(inner, self.scope)),
            Expr::BinaryOp { left, op, right } if is_whole_division(op) => {
                // `//` of numbers that are not integers is an ordinary division.
                let number = Number::infer(left, self.scope).with(Number::infer(right, self.scope));
                if matches!(number, Number::Decimal | Number::Float) {
                    *op = BinaryOperator::Divide;
                }
            }
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                as_truth(left, self.scope);
                as_truth(right, self.scope);
            }
            Expr::Function(function) => {
                let is_of_truths = TAKES_TRUTH.contains(&name_of(function).as_str());
                let conditions = first_argument(function).filter(|_| is_of_truths);
                conditions.into_iter().for_each(|condition| as_truth(condition, self.scope));
                function.filter.iter_mut().for_each(|filter| as_truth(filter, self.scope));
            }
            Expr::Case { operand: None, conditions, .. } => {
                conditions.iter_mut().for_each(|branch| as_truth(&mut branch.condition, self.scope));
            }
            _ => {}
        }
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
        check_constant(expr)?;
        if let Expr::Function(function) = expr
            && is_of_rows(function)
            && !self.scope.relations.is_empty()
        {
            spread(function, self.scope.any_column())?;
        }
        match expr {
            Expr::Identifier(name) => {
                if let Some(merged) = self.scope.merged(name) {
                    return Ok(Some(merged.clone()));
                }
                if let NameMeaning::Column(_, column) = self.scope.find(std::slice::from_ref(name)) {
                    name.value.clone_from(&column.name);
                }
                Ok(None)
            }
            Expr::CompoundIdentifier(parts) => {
                if let NameMeaning::Column(relation, column) = self.scope.find(parts)
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
            Expr::InSubquery { subquery, .. } => {
                self.translator.values(subquery, self.scope, self.place)?;
                Ok(None)
            }
            Expr::Exists { subquery, negated } => {
                let value = self.translator.exists(subquery, self.scope, self.place)?;
                let not = |value| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(value) };
                Ok(value.map(|value| if *negated { not(value) } else { value }))
            }
            Expr::Cast { kind, expr: inner, data_type, .. } => {
                let number = self.casts.pop().unwrap_or(Number::Open);
                let Some(whole) = whole_type(data_type) else { return Ok(None) };
                if whole.least == i64::MIN && (number == Number::IntegerType || has_nothing_to_round(inner)) {
                    return Ok(None);
                }
                let name = if *kind == CastKind::TryCast { "try_to_whole" } else { "to_whole" };
                let text = |text: &str| Expr::Value(Value::SingleQuotedString(text.to_owned()).into());
                let kind = if number == Number::Decimal { "decimal" } else { "float" };
                Ok(Some(call_of(name, vec![inner.as_ref().clone(), text(whole.name), text(kind)])))
            }
            Expr::Function(function) if function.over.is_some() => match WindowCall::from_function(function)? {
                Some((call, arguments)) => {
                    let name = format!("window_{}", self.translator.windows.len());
                    self.translator.windows.push(call);
                    Ok(Some(call_of(&name, arguments)))
                }
                None => rewritten(expr),
            },
            _ => rewritten(expr),
        }
    }
}
