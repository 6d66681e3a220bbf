//! Rows in an order that depends only on the input, if a statement requests no order or one that leaves rows equal.

use std::sync::Arc;

use polars::chunked_array::cast::CastOptions;
use polars::prelude::{DataType, JoinType, MaintainOrderJoin, Scalar, SortMultipleOptions};
use polars_plan::dsl::JoinTypeOptionsIR;
use polars_plan::plans::expr_ir::ExprIR;
use polars_plan::plans::{AExpr, AExprBuilder, IR, IRFunctionExpr, IRRangeFunction};
use polars_plan::prelude::{Arena, Node};

use super::nodes::nodes_of;

/// Makes the parts of an optimized plan keep the order of their rows that polars otherwise leaves to hashes and threads: groups and
/// distinct rows stand where their first row stood, equal rows of a sort stay in their order.
pub(crate) fn with_stable_rows(root: Node, plans: &mut Arena<IR>, expressions: &mut Arena<AExpr>) {
    for node in nodes_of(root, plans) {
        let mut own: Vec<ExprIR> = Vec::new();
        plans.get(node).copy_exprs(&mut own);
        own.iter().for_each(|own| stable_values(own.node(), expressions));
        match plans.get_mut(node) {
            IR::GroupBy { maintain_order, .. } => *maintain_order = true,
            IR::Distinct { options, .. } => options.maintain_order = true,
            IR::Union { options, .. } => options.maintain_order = true,
            IR::Sort { by_column, slice: Some((0, _, _)), sort_options, .. } => {
                then_by_place(by_column, sort_options, expressions);
            }
            IR::Sort { sort_options, .. } => sort_options.maintain_order = true,
            IR::Join { options, .. } => {
                let options = Arc::make_mut(options);
                if options.args.how == JoinType::Full {
                    options.args.maintain_order = MaintainOrderJoin::LeftRight;
                }
                if matches!(options.options, Some(JoinTypeOptionsIR::IEJoin(_))) {
                    let slice = options.args.slice.take();
                    sorted(node, slice, plans, expressions);
                }
            }
            _ => {}
        }
    }
}

/// Orders equal rows by their place. A stable sort would do too, but sorts all rows even if few are needed.
fn then_by_place(by: &mut Vec<ExprIR>, options: &mut SortMultipleOptions, expressions: &mut Arena<AExpr>) {
    for each in [&mut options.descending, &mut options.nulls_last] {
        let first = each.first().copied().unwrap_or_default();
        each.resize(if each.len() < 2 { by.len() } else { each.len() }, first);
        each.push(false);
    }
    let first = AExprBuilder::lit_scalar(Scalar::from(0_i64), expressions).node();
    let count = expressions.add(AExpr::Len);
    let count = AExpr::Cast { expr: count, dtype: DataType::Int64, options: CastOptions::Strict };
    let count = expressions.add(count);
    let function = IRFunctionExpr::Range(IRRangeFunction::IntRange { step: 1, dtype: DataType::Int64 });
    let input = [first, count].map(|node| ExprIR::from_node(node, expressions)).to_vec();
    let options = function.function_options();
    let place = expressions.add(AExpr::Function { input, function, options });
    by.push(ExprIR::from_node(place, expressions));
}

/// Orders the rows of a plan by all columns, so that rows of equal order are identical. A join by inequalities returns its rows in as many
/// parts as there are threads.
fn sorted(node: Node, slice: Option<(i64, usize)>, plans: &mut Arena<IR>, expressions: &mut Arena<AExpr>) {
    let schema = plans.get(node).schema(plans).into_owned();
    let by_column = schema.iter_names().map(|name| ExprIR::from_column_name(name.clone(), expressions)).collect();
    let join = plans.get(node).clone();
    let slice = slice.map(|(first, rows)| (first, rows, None));
    let input = plans.add(join);
    plans.replace(node, IR::Sort { input, by_column, slice, sort_options: SortMultipleOptions::default() });
}

/// Makes the order of rows stable in an expression over groups.
fn stable_values(root: Node, expressions: &mut Arena<AExpr>) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        expressions.get(node).inputs_rev(&mut open);
        match expressions.get_mut(node) {
            AExpr::SortBy { sort_options, .. } => sort_options.maintain_order = true,
            AExpr::Sort { options, .. } => options.maintain_order = true,
            AExpr::Function { function: IRFunctionExpr::Unique(is_stable), .. } => *is_stable = true,
            _ => {}
        }
    }
}
