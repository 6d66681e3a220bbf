//! FROM clauses: the tables that a SELECT reads, and how they are joined.

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, SetExpr, TableAliasColumnDef,
    TableFactor, TableWithJoins, VisitMut,
};

use super::functions::call_of;
use super::items::name_columns;
use super::parts::{
    Each, all_of, conjuncts, constraint_of, is_of_columns, last_word, named, refused, renamed, unknown,
};
use super::scope::{NameMeaning, Relation, Scope, columns_of};
use super::translate::Translator;
use crate::error::QueryError;
use wavesieve_model::schema;

/// Tables and columns that a FROM clause gives.
#[derive(Default)]
pub struct Sources {
    /// The tables that the rest of the SELECT sees.
    pub scope: Scope,
    /// Conditions of inner joins that polars takes only in WHERE.
    pub conditions: Vec<Expr>,
}

/// Kind of a join, by the rows that it returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JoinKind {
    /// Pairs that meet the condition.
    Inner,
    /// These, and rows of the left side without a partner.
    Left,
    /// These, and rows of the right side without a partner.
    Right,
    Full,
    /// Rows of the left side that have a partner, or have none.
    Semi,
}

impl JoinKind {
    fn from_operator(operator: &JoinOperator) -> Self {
        match operator {
            JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => Self::Left,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) => Self::Right,
            JoinOperator::FullOuter(_) => Self::Full,
            JoinOperator::Semi(_) | JoinOperator::LeftSemi(_) | JoinOperator::Anti(_) | JoinOperator::LeftAnti(_) => {
                Self::Semi
            }
            _ => Self::Inner,
        }
    }
}

impl Translator<'_, '_> {
    /// Brings a FROM clause into the form of polars.
    ///
    /// # Errors
    /// When polars has nothing for a part of it.
    pub fn from(&mut self, from: &mut [TableWithJoins]) -> Result<Sources, QueryError> {
        let mut sources = Sources::default();
        for table in &mut *from {
            let relation = self.relation(&mut table.relation)?;
            sources.scope.relations.push(relation);
            for join in &mut table.joins {
                self.join(join, &mut sources)?;
            }
        }
        let kinds = from.iter().flat_map(|table| &table.joins).map(|join| JoinKind::from_operator(&join.join_operator));
        if !sources.conditions.is_empty()
            && kinds.into_iter().any(|kind| matches!(kind, JoinKind::Right | JoinKind::Full))
        {
            return Err(refused(
                "with a RIGHT or FULL JOIN, ON supports only comparisons of both sides; put other conditions into a subquery",
            ));
        }
        Ok(sources)
    }

    fn join(&mut self, join: &mut Join, sources: &mut Sources) -> Result<(), QueryError> {
        let mut relation = self.relation(&mut join.relation)?;
        let kind = JoinKind::from_operator(&join.join_operator);
        let Some(constraint) = constraint_of(&mut join.join_operator) else {
            sources.scope.relations.push(relation);
            return Ok(());
        };
        if *constraint == JoinConstraint::Natural {
            *constraint = JoinConstraint::Using(common(&sources.scope, &relation)?);
        }
        if let JoinConstraint::Using(names) = &constraint {
            relation.hidden = names.iter().filter_map(last_word).collect();
            merge(&mut sources.scope, &relation, kind)?;
        }
        let before = sources.scope.clone();
        sources.scope.relations.push(relation);
        if let JoinConstraint::On(condition) = constraint {
            let parts = conjuncts(condition.clone());
            let (joining, others): (Vec<Expr>, Vec<Expr>) = match kind {
                JoinKind::Inner => parts.into_iter().partition(|part| is_joining(part, &before, &sources.scope)),
                _ => (parts, Vec::new()),
            };
            if kind != JoinKind::Inner && !joining.iter().all(is_of_columns) {
                // polars would leave out rows that have no partner.
                return Err(refused(match kind {
                    JoinKind::Semi => {
                        "polars has SEMI and ANTI JOIN by equal columns alone; put other conditions into a subquery, as in SEMI JOIN (SELECT … WHERE …)"
                    }
                    _ => {
                        "polars joins outer rows by equal columns alone; put other conditions into a subquery, as in JOIN (SELECT … WHERE …)"
                    }
                }));
            }
            sources.conditions.extend(others);
            match all_of(joining) {
                Some(mut joining) => {
                    let seen = sources.scope.clone();
                    self.rewrite(&mut joining, &seen)?;
                    *condition = joining;
                }
                None => join.join_operator = JoinOperator::CrossJoin(JoinConstraint::None),
            }
        }
        if kind == JoinKind::Semi {
            sources.scope.relations.pop();
        }
        Ok(())
    }

    fn relation(&mut self, factor: &mut TableFactor) -> Result<Relation, QueryError> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let Some(word) = last_word(name) else { return Ok(unknown("")) };
                let shown = alias.as_ref().map_or(word.clone(), |alias| alias.name.value.clone());
                if let Some(step) = self.steps_by_name.iter().rev().find(|step| step.name.eq_ignore_ascii_case(&word)) {
                    *name = ObjectName::from(vec![step.step.clone()]);
                    let mut columns = step.columns.clone();
                    if let Some(alias) = alias {
                        columns = renamed(columns, alias);
                    } else if step.step.value != shown {
                        *alias = Some(named(&shown));
                    }
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
            TableFactor::Derived { subquery, alias, .. } => {
                self.subqueries += 1;
                let number = self.subqueries;
                // polars requires a name for each subquery.
                let alias = alias.get_or_insert_with(|| named(&format!("subquery_{number}")));
                name_columns(subquery, alias);
                let columns = self.query(subquery)?;
                if matches!(subquery.body.as_ref(), SetExpr::Values(_)) && alias.columns.is_empty() {
                    let definition = |column: &super::scope::Column| TableAliasColumnDef {
                        name: Ident::new(&column.name),
                        data_type: None,
                    };
                    alias.columns = columns.iter().flatten().map(definition).collect();
                }
                let columns = renamed(columns, alias);
                let relation = Relation { name: alias.name.value.clone(), columns, hidden: Vec::new() };
                self.step(factor, &relation.columns);
                Ok(relation)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                let sources = self.from(std::slice::from_mut(table_with_joins))?;
                if !sources.conditions.is_empty() {
                    return Err(refused(
                        "in parentheses, ON supports only comparisons of both sides; put other conditions into WHERE",
                    ));
                }
                let first = sources.scope.relations.into_iter().next();
                first.ok_or_else(|| refused("a join in parentheses joins nothing; name two tables"))
            }
            _ => Ok(unknown("")),
        }
    }
}

/// The columns that a NATURAL JOIN compares.
fn common(scope: &Scope, relation: &Relation) -> Result<Vec<ObjectName>, QueryError> {
    let Some(columns) = relation.columns.as_ref().filter(|_| scope.is_known()) else {
        return Err(refused("the columns of a NATURAL JOIN are not known here; write USING (column, …)"));
    };
    let is_common = |name: &str| scope.relations.iter().any(|other| other.shows(name));
    let names = columns.iter().filter(|column| is_common(&column.name));
    let names: Vec<_> = names.map(|column| ObjectName::from(vec![Ident::with_quote('"', &column.name)])).collect();
    if names.is_empty() {
        return Err(refused("the sides of a NATURAL JOIN have no column in common; write ON, or CROSS JOIN"));
    }
    Ok(names)
}

/// Records the expressions of USING columns in a join whose left side may be missing.
fn merge(scope: &mut Scope, right: &Relation, kind: JoinKind) -> Result<(), QueryError> {
    for name in &right.hidden {
        if scope.merged.iter().any(|(merged, _)| merged == name) {
            return Err(refused(format!(
                "polars has no USING ({name}) after a RIGHT or FULL JOIN by the same column; put that join into a subquery"
            )));
        }
        let column = |relation: &str| {
            Expr::CompoundIdentifier([relation, name].map(|word| Ident::with_quote('"', word)).to_vec())
        };
        let left = scope.relations.iter().find(|relation| relation.shows(name)).map(|relation| column(&relation.name));
        let merged = match (kind, left) {
            (JoinKind::Right, _) => column(&right.name),
            (JoinKind::Full, Some(left)) => call_of("COALESCE", vec![left, column(&right.name)]),
            _ => continue,
        };
        scope.merged.push((name.clone(), merged));
    }
    Ok(())
}

/// Whether a condition compares a value of the tables before a join with a value of the joined table.
fn is_joining(condition: &Expr, before: &Scope, all: &Scope) -> bool {
    let Expr::BinaryOp { left, op, right } = condition else { return false };
    let is_comparison = matches!(
        op,
        BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
    );
    let sides = [left, right].map(|side| side_of(side, before, all));
    is_comparison && matches!(sides, [Some(one), Some(other)] if one != other)
}

/// Whether an expression reads the joined table; `None` if it does not read exactly one side.
fn side_of(expr: &Expr, before: &Scope, all: &Scope) -> Option<bool> {
    let mut sides: Vec<Option<bool>> = Vec::new();
    let mut look = |expr: &mut Expr| {
        let parts = match expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(parts) => parts.as_slice(),
            Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => {
                sides.push(None);
                return;
            }
            _ => return,
        };
        sides.push(match (before.find(parts), all.find(parts)) {
            (NameMeaning::Column(..), _) => Some(false),
            (_, NameMeaning::Column(..)) => Some(true),
            _ => None,
        });
    };
    let _ = expr.clone().visit(&mut Each::new(&mut look));
    let first = sides.first().copied().flatten()?;
    sides.iter().all(|side| *side == Some(first)).then_some(first)
}
