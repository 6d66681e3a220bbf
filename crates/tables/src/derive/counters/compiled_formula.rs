//! Formulas as polars expressions.

use polars::prelude::{DataType, Expr, NULL, col, lit, when};

use wavesieve_model::analysis::hardware::metrics::{Choice, Comparison, Expression, Function, Operator};

/// A bound formula as an expression over a frame, which has a column for every counter and property of the dispatch in the formula. The
/// result is null if one of them is null, or for a division by 0.
pub fn compiled(expression: &Expression) -> Expr {
    match expression {
        Expression::Number(value) => lit(*value),
        Expression::Constant(name) => col(name.as_str()),
        Expression::Dispatch(name) => of_dispatch(name),
        Expression::Denominator => lit(1.0),
        Expression::Counter(counter) => col(counter.to_string()),
        Expression::Binary(operator, left, right) => {
            let (left, right) = (compiled(left), compiled(right));
            match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide => quotient(left, right),
            }
        }
        Expression::Call(function, arguments) => {
            let mut arguments = arguments.iter().map(compiled);
            let first = arguments.next().unwrap_or_else(|| lit(NULL));
            let second = arguments.next().unwrap_or_else(|| lit(NULL));
            match function {
                Function::Min => least(first, second),
                Function::Max => -least(-first, -second),
                Function::Round => first.round(0, polars::prelude::RoundMode::HalfToEven),
                Function::Floor => first.floor(),
                Function::Remainder => first.clone() - quotient(first, second.clone()).floor() * second,
            }
        }
        Expression::Choice(choice) => {
            let Choice { left, comparison, right, then, otherwise } = &**choice;
            let (left, right) = (compiled(left), compiled(right));
            let known = left.clone().is_not_null().and(right.clone().is_not_null());
            let holds = match comparison {
                Comparison::Equal => left.eq(right),
                Comparison::Different => left.neq(right),
                Comparison::Less => left.lt(right),
                Comparison::AtMost => left.lt_eq(right),
                Comparison::Greater => left.gt(right),
                Comparison::AtLeast => left.gt_eq(right),
            };
            let value = when(holds).then(compiled(then)).otherwise(compiled(otherwise));
            when(known).then(value).otherwise(lit(NULL))
        }
    }
}

/// A property of a dispatch, from columns of `counter_dispatches` and `kernel_symbols`.
fn of_dispatch(name: &str) -> Expr {
    let number = |name: &str| col(name).cast(DataType::Float64);
    let volume = |of: &str| number(&format!("{of}_x")) * number(&format!("{of}_y")) * number(&format!("{of}_z"));
    match name {
        "grid_size" => volume("grid"),
        "workgroup_size" => volume("workgroup"),
        "arch_vgpr" => number("vgpr"),
        "lds_per_workgroup" => number("lds_bytes"),
        "scratch_per_workitem" => number("scratch_bytes"),
        same => number(same),
    }
}

fn quotient(left: Expr, right: Expr) -> Expr {
    when(right.clone().eq(lit(0.0))).then(lit(NULL)).otherwise(left / right)
}

/// The lesser of two values, null if one is.
fn least(first: Expr, second: Expr) -> Expr {
    let known = first.clone().is_not_null().and(second.clone().is_not_null());
    let lesser = when(first.clone().lt(second.clone())).then(first).otherwise(second);
    when(known).then(lesser).otherwise(lit(NULL))
}

#[cfg(test)]
mod tests {
    use polars::df;
    use polars::prelude::IntoLazy;

    use super::*;
    use wavesieve_model::analysis::hardware::metrics::{Vocabulary, parse};

    #[test]
    fn formulas_give_what_they_mean() {
        let frame =
            df!("A" => [6.0, 0.0, 5.0], "B" => [Some(3.0), Some(0.0), None], "dur_ns" => [10.0, 20.0, 30.0]).unwrap();
        for (text, expected) in [
            ("A/B", [Some(2.0), None, None]),
            ("100*A/(A + B)", [Some(200.0 / 3.0), None, None]),
            ("min(A, B)", [Some(3.0), Some(0.0), None]),
            ("max(A, B)", [Some(6.0), Some(0.0), None]),
            ("max(A - B, 0)/A", [Some(0.5), None, None]),
            ("round(A/4)", [Some(2.0), Some(0.0), Some(1.0)]),
            ("floor(A/4)", [Some(1.0), Some(0.0), Some(1.0)]),
            ("mod(A, 4)", [Some(2.0), Some(0.0), Some(1.0)]),
            ("mod(A, B)", [Some(0.0), None, None]),
            ("if(A > B, A/B, 0)", [Some(2.0), Some(0.0), None]),
            ("A/dur_ns", [Some(0.6), Some(0.0), Some(5.0 / 30.0)]),
        ] {
            let vocabulary = Vocabulary { dispatch: vec!["dur_ns".to_owned()], ..Vocabulary::default() };
            let expression = parse(text, &vocabulary).unwrap();
            let found = frame.clone().lazy().select([compiled(&expression).alias("x")]).collect().unwrap();
            let found: Vec<Option<f64>> = found.column("x").unwrap().f64().unwrap().iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
