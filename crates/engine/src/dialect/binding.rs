//! Precedence of operators as in DuckDB, which the parser does not follow.
//!
//! The parser takes all that follows `IS DISTINCT FROM` as its right side, AND and OR too, binds `^` less than `+`, and `||` more. Its
//! trees are split into operands and operators, and built again. Parentheses preserve the result, because polars parses the text of the
//! statement once more.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value, VisitMut, VisitorMut};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::depth::is_too_deep;

/// The operand before a postfix test such as `IS NULL`, for both kinds of references.
macro_rules! operand_before {
    ($tested:expr) => {
        match $tested {
            Expr::InList { expr, .. }
            | Expr::InSubquery { expr, .. }
            | Expr::Between { expr, .. }
            | Expr::Like { expr, .. }
            | Expr::ILike { expr, .. }
            | Expr::SimilarTo { expr, .. }
            | Expr::IsNull(expr)
            | Expr::IsNotNull(expr)
            | Expr::IsTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsNotFalse(expr)
            | Expr::IsUnknown(expr)
            | Expr::IsNotUnknown(expr) => Some(expr),
            _ => None,
        }
    };
}

/// Binds the operators in a part of a statement as DuckDB does, and returns whether that changed it.
pub fn bind(part: &mut impl VisitMut) -> bool {
    let mut binder = Binder { is_changed: false };
    let _ = part.visit(&mut binder);
    binder.is_changed
}

/// A condition with parentheses where the parser would bind operators differently from DuckDB. Comparisons replace `IS NOT TRUE` and
/// similar tests, which polars finds unknown for unknown values. The condition stays the same if it cannot be parsed.
pub(crate) fn bound_condition(written: &str) -> String {
    let bound = || {
        let mut parser = Parser::new(&GenericDialect {}).try_with_sql(written).ok()?;
        let mut expr = parser.parse_expr().ok()?;
        // The engine reports the error in the rest.
        let is_whole = parser.peek_token().token == Token::EOF;
        let is_bound = bind(&mut expr);
        let mut truths = Truths { is_changed: false };
        let _ = VisitMut::visit(&mut expr, &mut truths);
        (is_whole && (is_bound || truths.is_changed)).then(|| expr.to_string())
    };
    Some(()).filter(|()| !is_too_deep(written)).and_then(|()| bound()).unwrap_or_else(|| written.to_owned())
}

struct Binder {
    is_changed: bool,
}

impl VisitorMut for Binder {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if is_operation(expr) && has_doubtful(expr) {
            let mut pieces = VecDeque::new();
            take_apart(expr.clone(), &mut pieces);
            if let Some(bound) = put_together(&mut pieces, 0).filter(|_| pieces.is_empty())
                && bare(&bound) != bare(expr)
            {
                *expr = bound;
                self.is_changed = true;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Replaces tests of truth values with comparisons.
struct Truths {
    is_changed: bool,
}

impl VisitorMut for Truths {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (tested, truth, is_so) = match expr {
            Expr::IsTrue(tested) => (tested, true, true),
            Expr::IsFalse(tested) => (tested, false, true),
            Expr::IsNotTrue(tested) => (tested, true, false),
            Expr::IsNotFalse(tested) => (tested, false, false),
            _ => return ControlFlow::Continue(()),
        };
        let tested = apart(std::mem::replace(tested.as_mut(), Expr::value(Value::Null)));
        let truth = Box::new(Expr::value(Value::Boolean(truth)));
        let compared = if is_so { Expr::IsNotDistinctFrom(tested, truth) } else { Expr::IsDistinctFrom(tested, truth) };
        *expr = Expr::Nested(Box::new(compared));
        self.is_changed = true;
        ControlFlow::Continue(())
    }
}

/// A part of a chain of operators.
enum Piece {
    Operand(Expr),
    Before(UnaryOperator),
    Between(Operator),
    /// A postfix test such as `IN (…)`, with a placeholder as its operand.
    Behind(Expr),
}

enum Operator {
    Binary(BinaryOperator),
    Distinct,
    NotDistinct,
}

/// Precedence of an operator.
fn strength(op: &BinaryOperator) -> u8 {
    use BinaryOperator as Op;
    match op {
        Op::Or => 1,
        Op::Xor => 2,
        Op::And => 3,
        Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq | Op::Spaceship => COMPARISON,
        Op::Plus | Op::Minus => 9,
        Op::Multiply | Op::Divide | Op::Modulo | Op::DuckIntegerDivide | Op::MyIntegerDivide => 10,
        Op::BitwiseXor | Op::PGExp => 11,
        _ => 8,
    }
}

/// Precedence of a postfix test: `IS NULL` and similar tests bind as `IS DISTINCT FROM`.
fn strength_behind(expr: &Expr) -> u8 {
    match expr {
        Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::SimilarTo { .. } => BEHIND,
        _ => DISTINCT,
    }
}

const NOT: u8 = 4;
const DISTINCT: u8 = 5;
const COMPARISON: u8 = 6;
const BEHIND: u8 = 7;
const SIGN: u8 = 12;

fn is_operation(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::BinaryOp { .. } | Expr::UnaryOp { .. } | Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..)
    ) || operand_before!(expr).is_some()
}

/// Whether a chain has an operator that the parser may bind differently.
fn has_doubtful(expr: &Expr) -> bool {
    match expr {
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => true,
        Expr::BinaryOp { left, op, right } => {
            matches!(strength(op), 8 | 11) || has_doubtful(left) || has_doubtful(right)
        }
        Expr::UnaryOp { expr, .. } => has_doubtful(expr),
        other => operand_before!(other).is_some_and(|operand| is_operation(operand)),
    }
}

fn take_apart(expr: Expr, pieces: &mut VecDeque<Piece>) {
    match expr {
        Expr::BinaryOp { left, op, right } => {
            take_apart(*left, pieces);
            pieces.push_back(Piece::Between(Operator::Binary(op)));
            take_apart(*right, pieces);
        }
        Expr::IsDistinctFrom(left, right) => {
            take_apart(*left, pieces);
            pieces.push_back(Piece::Between(Operator::Distinct));
            take_apart(*right, pieces);
        }
        Expr::IsNotDistinctFrom(left, right) => {
            take_apart(*left, pieces);
            pieces.push_back(Piece::Between(Operator::NotDistinct));
            take_apart(*right, pieces);
        }
        Expr::UnaryOp { op: op @ (UnaryOperator::Not | UnaryOperator::Minus | UnaryOperator::Plus), expr } => {
            pieces.push_back(Piece::Before(op));
            take_apart(*expr, pieces);
        }
        mut other => match operand_before!(&mut other) {
            Some(operand) => {
                let operand = std::mem::replace(operand, Box::new(Expr::value(Value::Null)));
                take_apart(*operand, pieces);
                pieces.push_back(Piece::Behind(other));
            }
            None => pieces.push_back(Piece::Operand(other)),
        },
    }
}

/// The expression made of the next pieces, up to an operator that binds less than `least`.
fn put_together(pieces: &mut VecDeque<Piece>, least: u8) -> Option<Expr> {
    let mut left = match pieces.pop_front()? {
        Piece::Operand(expr) => expr,
        Piece::Before(op) => {
            let least = if op == UnaryOperator::Not { NOT } else { SIGN };
            Expr::UnaryOp { op, expr: apart(put_together(pieces, least)?) }
        }
        Piece::Between(_) | Piece::Behind(_) => return None,
    };
    loop {
        let binds = match pieces.front() {
            None => return Some(left),
            Some(Piece::Between(Operator::Binary(op))) => strength(op),
            Some(Piece::Between(_)) => DISTINCT,
            Some(Piece::Behind(whole)) => strength_behind(whole),
            Some(_) => return None,
        };
        if binds < least {
            return Some(left);
        }
        left = match pieces.pop_front()? {
            Piece::Between(operator) => {
                let right = apart(put_together(pieces, binds + 1)?);
                let left = apart(left);
                match operator {
                    Operator::Binary(op) => Expr::BinaryOp { left, op, right },
                    Operator::Distinct => Expr::IsDistinctFrom(left, right),
                    Operator::NotDistinct => Expr::IsNotDistinctFrom(left, right),
                }
            }
            Piece::Behind(mut whole) => {
                *operand_before!(&mut whole)? = apart(left);
                whole
            }
            _ => return None,
        };
    }
}

/// An operand in parentheses, if it has operators.
fn apart(expr: Expr) -> Box<Expr> {
    let is_sign = matches!(&expr, Expr::UnaryOp { op: UnaryOperator::Minus, expr } if matches!(**expr, Expr::Value(_)));
    Box::new(if is_operation(&expr) && !is_sign { Expr::Nested(Box::new(expr)) } else { expr })
}

/// An expression with parentheses around each operation, to compare how it is built.
fn bare(expr: &Expr) -> String {
    let mut expr = expr.clone();
    let _ = VisitMut::visit(&mut expr, &mut Parentheses);
    expr.to_string()
}

struct Parentheses;

impl VisitorMut for Parentheses {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        while let Expr::Nested(inner) = expr {
            *expr = std::mem::replace(inner.as_mut(), Expr::value(Value::Null));
        }
        if is_operation(expr) {
            *expr = Expr::Nested(Box::new(std::mem::replace(expr, Expr::value(Value::Null))));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> String {
        let mut expr = Parser::new(&GenericDialect {}).try_with_sql(text).unwrap().parse_expr().unwrap();
        bind(&mut expr);
        bare(&expr)
    }

    #[test]
    fn operators_bind_as_in_duckdb() {
        for (text, expected) in [
            ("a IS DISTINCT FROM 1 AND b", "((a IS DISTINCT FROM 1) AND b)"),
            ("a IS NOT DISTINCT FROM b OR c AND d", "((a IS NOT DISTINCT FROM b) OR (c AND d))"),
            ("NOT a IS DISTINCT FROM b AND c", "((NOT (a IS DISTINCT FROM b)) AND c)"),
            ("x AND a IS DISTINCT FROM b + 1 OR c", "((x AND (a IS DISTINCT FROM (b + 1))) OR c)"),
            ("a IS DISTINCT FROM b AND c IS DISTINCT FROM d", "((a IS DISTINCT FROM b) AND (c IS DISTINCT FROM d))"),
            (
                "a IS DISTINCT FROM b AND c IN (1, 2) OR d LIKE 'x'",
                "(((a IS DISTINCT FROM b) AND (c IN (1, 2))) OR (d LIKE 'x'))",
            ),
            (
                "a IS DISTINCT FROM b AND c BETWEEN 1 AND 2 AND d",
                "(((a IS DISTINCT FROM b) AND (c BETWEEN 1 AND 2)) AND d)",
            ),
            ("a = 1 IS DISTINCT FROM true", "((a = 1) IS DISTINCT FROM true)"),
            ("a IS DISTINCT FROM b IS NULL", "((a IS DISTINCT FROM b) IS NULL)"),
            ("a IS NOT DISTINCT FROM b IS NOT TRUE AND c", "(((a IS NOT DISTINCT FROM b) IS NOT TRUE) AND c)"),
            ("NOT a IS NULL AND b + 1 IS NOT NULL", "((NOT (a IS NULL)) AND ((b + 1) IS NOT NULL))"),
            ("a = b IN (1, 2) IS NULL", "((a = (b IN (1, 2))) IS NULL)"),
            ("2 + 3 ^ 2", "(2 + (3 ^ 2))"),
            ("10 - 2 ^ 2 * 3", "(10 - ((2 ^ 2) * 3))"),
            ("2 ^ 3 ^ 2", "((2 ^ 3) ^ 2)"),
            ("-2 ^ 2", "((-2) ^ 2)"),
            ("'a' || 1 + 2", "('a' || (1 + 2))"),
            ("1 + 2 || 'a' = b", "(((1 + 2) || 'a') = b)"),
            ("1 | 2 & 0", "((1 | 2) & 0)"),
            ("a = b IN (1, 2)", "(a = (b IN (1, 2)))"),
            ("a AND (b IS DISTINCT FROM c AND d)", "(a AND ((b IS DISTINCT FROM c) AND d))"),
        ] {
            assert_eq!(bound(text), expected, "{text}");
        }
    }

    #[test]
    fn parentheses_keep_it_for_the_next_parser() {
        for text in
            ["a IS DISTINCT FROM 1 AND b", "NOT a IS DISTINCT FROM b AND c OR d", "2 + 3 ^ 2 * 4", "a || b + c = d"]
        {
            let mut expr = Parser::new(&GenericDialect {}).try_with_sql(text).unwrap().parse_expr().unwrap();
            bind(&mut expr);
            let again = Parser::new(&GenericDialect {}).try_with_sql(&expr.to_string()).unwrap().parse_expr().unwrap();
            assert_eq!(again, expr, "{text}");
        }
    }

    #[test]
    fn conditions_stay_as_they_are_written() {
        assert_eq!(bound_condition("a  = 1 AND b"), "a  = 1 AND b");
        assert_eq!(bound_condition("a IS DISTINCT FROM 1 AND b"), "(a IS DISTINCT FROM 1) AND b");
        assert_eq!(bound_condition("a IS DISTINCT FROM 1 AND"), "a IS DISTINCT FROM 1 AND");
        assert_eq!(bound_condition("a = 1 IS NOT TRUE OR b"), "((a = 1) IS DISTINCT FROM true) OR b");
    }
}
