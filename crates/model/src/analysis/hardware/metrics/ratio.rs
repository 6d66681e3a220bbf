//! A formula as one numerator over one denominator, so that both can be summed over dispatches.

use crate::analysis::hardware::metrics::expression::{Expression, Operator};

/// A numerator and a denominator; the formula is their quotient wherever it has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The dividend.
    pub numerator: Expression,
    /// The divisor; 1 if nothing is divided.
    pub denominator: Expression,
}

/// A formula as one quotient. Functions and choices stay whole, in the numerator.
pub fn ratio(expression: &Expression) -> Ratio {
    let Expression::Binary(operator, left, right) = expression else {
        return Ratio { numerator: expression.clone(), denominator: Expression::Number(1.0) };
    };
    let (a, b) = (ratio(left), ratio(right));
    match operator {
        Operator::Multiply => {
            Ratio { numerator: product(a.numerator, b.numerator), denominator: product(a.denominator, b.denominator) }
        }
        Operator::Divide => {
            Ratio { numerator: product(a.numerator, b.denominator), denominator: product(a.denominator, b.numerator) }
        }
        Operator::Add | Operator::Subtract => {
            let sum = |left, right| Expression::binary(*operator, left, right);
            if a.denominator == b.denominator {
                return Ratio { numerator: sum(a.numerator, b.numerator), denominator: a.denominator };
            }
            Ratio {
                numerator: sum(
                    product(a.numerator, b.denominator.clone()),
                    product(b.numerator, a.denominator.clone()),
                ),
                denominator: product(a.denominator, b.denominator),
            }
        }
    }
}

fn product(left: Expression, right: Expression) -> Expression {
    Expression::binary(Operator::Multiply, left, right)
}
