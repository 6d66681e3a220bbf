//! Puts exact functions into the plans of polars.

use polars::chunked_array::cast::CastOptions;
use polars::prelude::{DataType, PlSmallStr, PolarsResult, Scalar, Schema, SchemaRef};
use polars_plan::dsl::{Operator, new_column_udf};
use polars_plan::plans::expr_ir::ExprIR;
use polars_plan::plans::{AExpr, AExprBuilder, IR, IRAggExpr, IRFunctionExpr, ToFieldContext};
use polars_plan::prelude::{Arena, FunctionOptions, Node};
use polars_plan::utils::aexpr_to_leaf_names;

use super::functions::{Function, HALF};
use super::integers::Operation;
use super::nodes::nodes_of;

/// Makes the sums, means, deviations, divisions and whole numbers of an optimized plan exact. Polars adds floats in the order in which its
/// threads come to them, wraps integers around, adds the integers of a mean as floats, and multiplies with the rounded inverse of a divisor.
///
/// # Errors
/// When a column has no type.
pub(crate) fn with_exact_sums(root: Node, plans: &mut Arena<IR>, expressions: &mut Arena<AExpr>) -> PolarsResult<()> {
    for node in nodes_of(root, plans) {
        let mut own: Vec<ExprIR> = Vec::new();
        plans.get(node).copy_exprs(&mut own);
        let schemas = schemas_of(node, plans);
        let mut exact: Vec<Node> = Vec::new();
        for (own, schema) in own.iter().zip(schemas) {
            let mut of_schema = ExactRewriter { schema: &schema, expressions, branches: Vec::new() };
            exact.push(of_schema.rewrite(own.node())?);
        }
        for (own, exact) in plans.get_mut(node).exprs_mut().zip(exact) {
            if own.node() != exact {
                own.set_node(exact);
            }
        }
    }
    Ok(())
}

/// The columns that each expression of a part of a plan sees.
fn schemas_of(node: Node, plans: &Arena<IR>) -> Vec<SchemaRef> {
    let of = |node: Node| plans.get(node).schema(plans).into_owned();
    let plan = plans.get(node);
    match plan {
        IR::Join { input_left, input_right, left_on, right_on, schema, .. } => {
            let left = vec![of(*input_left); left_on.len()];
            let right = vec![of(*input_right); right_on.len()];
            // A condition on the rows that are joined comes last.
            [left, right, vec![schema.clone()]].concat()
        }
        IR::Scan { file_info, .. } => vec![file_info.schema.clone()],
        _ => match plan.inputs().collect::<Vec<_>>().as_slice() {
            [input] => vec![of(*input); plan.exprs().count()],
            _ => Vec::new(),
        },
    }
}

/// Rewrites expressions over the columns of a schema.
struct ExactRewriter<'a> {
    schema: &'a Schema,
    expressions: &'a mut Arena<AExpr>,
    /// The conditions of the branches around the present expression, and whether the expression is in the branch for true.
    branches: Vec<(Node, bool)>,
}

impl ExactRewriter<'_> {
    /// An expression with exact functions; unchanged if it needs none.
    fn rewrite(&mut self, node: Node) -> PolarsResult<Node> {
        let expression = self.expressions.get(node).clone();
        let data_type = self.type_of(node)?;
        let mut inputs: Vec<Node> = Vec::new();
        // `replace_inputs` takes them in this order.
        expression.inputs_rev(&mut inputs);
        inputs.reverse();
        let exact = match &expression {
            AExpr::Ternary { predicate, truthy, falsy } => self.of_choice(*predicate, *truthy, *falsy)?,
            _ => inputs.iter().map(|input| self.rewrite(*input)).collect::<PolarsResult<_>>()?,
        };
        let [first, ..] = exact.as_slice() else { return Ok(node) };
        let of_first = self.type_of(*first)?;
        let is_integer = of_first.is_integer() && !matches!(of_first, DataType::UInt64);
        let replaced = match &expression {
            // A literal is one value for polars, however many rows there are.
            AExpr::Agg(_) if aexpr_to_leaf_names(node, self.expressions).is_empty() => None,
            AExpr::Agg(IRAggExpr::Sum(_)) if is_integer => Some(self.sum(*first, data_type, &sum_of)),
            AExpr::Agg(IRAggExpr::Sum(_)) if of_first == DataType::Float64 => {
                Some(self.function(Function::FloatSum, &[*first]))
            }
            AExpr::Agg(IRAggExpr::Mean(_)) if is_integer => Some(self.mean(*first)),
            AExpr::Agg(IRAggExpr::Mean(_)) if of_first == DataType::Float64 => {
                Some(self.function(Function::FloatMean, &[*first]))
            }
            AExpr::Agg(IRAggExpr::Var(_, degrees)) if of_first.is_primitive_numeric() => {
                Some(self.function(Function::Variance(*degrees), &[*first]))
            }
            AExpr::Agg(IRAggExpr::Std(_, degrees)) if of_first.is_primitive_numeric() => {
                Some(self.function(Function::Deviation(*degrees), &[*first]))
            }
            AExpr::Function { function: IRFunctionExpr::CumSum { .. }, .. } if is_integer => {
                let running = |expressions: &Arena<AExpr>, input| {
                    let mut running = expression.clone();
                    if let AExpr::Function { input: inputs, .. } = &mut running {
                        *inputs = vec![ExprIR::from_node(input, expressions)];
                    }
                    running
                };
                Some(self.sum(*first, data_type, &running))
            }
            AExpr::BinaryExpr { op: Operator::TrueDivide, .. } if data_type == DataType::Float64 => {
                Some(self.function(Function::Quotient, &exact))
            }
            AExpr::BinaryExpr { op, .. } if data_type.is_integer() => {
                Operation::from_operator(*op).map(|operation| self.whole(operation, data_type, &exact))
            }
            AExpr::Function { function: IRFunctionExpr::Abs, .. } if data_type.is_integer() => {
                Some(self.whole(Operation::Absolute, data_type, &exact))
            }
            _ => None,
        };
        if let Some(replaced) = replaced {
            return Ok(replaced);
        }
        if exact == inputs {
            return Ok(node);
        }
        Ok(self.expressions.add(expression.replace_inputs(&exact)))
    }

    /// Both branches of a choice and its condition, in this order.
    fn of_choice(&mut self, condition: Node, taken: Node, otherwise: Node) -> PolarsResult<Vec<Node>> {
        let condition = self.rewrite(condition)?;
        let mut branch = |node, is_taken| {
            self.branches.push((condition, is_taken));
            let exact = self.rewrite(node);
            self.branches.pop();
            exact
        };
        Ok(vec![branch(taken, true)?, branch(otherwise, false)?, condition])
    }

    /// An operation with whole numbers that is refused if its result does not fit the type.
    fn whole(&mut self, operation: Operation, data_type: DataType, numbers: &[Node]) -> Node {
        let (conditions, taken): (Vec<Node>, Vec<bool>) = self.branches.iter().copied().unzip();
        self.function(Function::Whole(operation, data_type, taken), &[numbers, &conditions].concat())
    }

    fn type_of(&self, node: Node) -> PolarsResult<DataType> {
        self.expressions.get(node).to_dtype(&ToFieldContext::new(self.expressions, self.schema))
    }

    /// A sum of integers, made by `sum_of`, that does not wrap around.
    fn sum(&mut self, integers: Node, data_type: DataType, sum_of: &dyn Fn(&Arena<AExpr>, Node) -> AExpr) -> Node {
        let halves = self.halves(integers).map(|values| {
            let sum = sum_of(self.expressions, values);
            self.expressions.add(sum)
        });
        self.function(Function::Sum(data_type), &halves)
    }

    fn mean(&mut self, integers: Node) -> Node {
        let [high, low] = self.halves(integers).map(|values| self.expressions.add(AExpr::Agg(IRAggExpr::Sum(values))));
        let count = AExpr::Agg(IRAggExpr::Count { input: integers, include_nulls: false });
        let count = self.expressions.add(count);
        self.function(Function::Mean, &[high, low, count])
    }

    /// The high and the low halves of integers.
    fn halves(&mut self, integers: Node) -> [Node; 2] {
        let cast = AExpr::Cast { expr: integers, dtype: DataType::Int64, options: CastOptions::Strict };
        let left = self.expressions.add(cast);
        let right = AExprBuilder::lit_scalar(Scalar::from(HALF), self.expressions).node();
        [Operator::FloorDivide, Operator::Modulus].map(|op| self.expressions.add(AExpr::BinaryExpr { left, op, right }))
    }

    fn function(&mut self, function: Function, inputs: &[Node]) -> Node {
        let options =
            if function.is_aggregate() { FunctionOptions::aggregation() } else { FunctionOptions::elementwise() };
        let input = inputs.iter().map(|input| ExprIR::from_node(*input, self.expressions)).collect();
        let fmt_str = Box::new(PlSmallStr::from_string(format!("{function:?}")));
        self.expressions.add(AExpr::AnonymousFunction { input, function: new_column_udf(function), options, fmt_str })
    }
}

fn sum_of(_: &Arena<AExpr>, values: Node) -> AExpr {
    AExpr::Agg(IRAggExpr::Sum(values))
}
