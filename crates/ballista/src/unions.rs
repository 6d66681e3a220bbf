//! Changes unions so that Ballista 55 runs them without repeating rows.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::{Column, lit};
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Puts branches of a union into their own stages if a task would run branches of other tasks too: rows would then appear once for each
/// task (apache/datafusion-ballista#2184). That happens if a branch keeps its number of partitions when it gets none to read.
#[derive(Debug)]
pub(crate) struct BranchesInStages;

impl PhysicalOptimizerRule for BranchesInStages {
    fn name(&self) -> &'static str {
        "branches_in_stages"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, options: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let partitions = options.execution.target_partitions;
        let in_stages = |plan: Arc<dyn ExecutionPlan>| {
            if !plan.is::<UnionExec>() || plan.children().into_iter().all(has_partitions_of_leaves) {
                return Ok(Transformed::no(plan));
            }
            let branches = plan.children().into_iter().map(|branch| in_own_stage(branch, partitions));
            let branches = branches.collect::<Result<Vec<_>>>()?;
            Ok(Transformed::yes(UnionExec::try_new(branches)?))
        };
        Ok(plan.transform_up(in_stages)?.data)
    }
}

/// Whether a plan has fewer partitions if its leaves have fewer.
fn has_partitions_of_leaves(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_collecting = plan.is::<CoalescePartitionsExec>()
        || plan.is::<SortPreservingMergeExec>()
        || plan.downcast_ref::<SortExec>().is_some_and(|sort| !sort.preserve_partitioning());
    let children = plan.children();
    let is_join = children.len() > 1 && !plan.is::<UnionExec>();
    plan.is::<RepartitionExec>() || (!is_collecting && !is_join && children.into_iter().all(has_partitions_of_leaves))
}

fn in_own_stage(branch: &Arc<dyn ExecutionPlan>, partitions: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = branch.schema();
    let named = schema.fields().iter().enumerate();
    let mut keys: Vec<Arc<dyn PhysicalExpr>> =
        named.map(|(place, field)| Arc::new(Column::new(field.name(), place)) as Arc<dyn PhysicalExpr>).collect();
    if keys.is_empty() {
        keys.push(lit(0));
    }
    let ordering = branch.output_ordering().cloned();
    let stage = Arc::new(RepartitionExec::try_new(Arc::clone(branch), Partitioning::Hash(keys, partitions))?);
    Ok(match ordering {
        Some(ordering) => Arc::new(SortExec::new(ordering, stage).with_preserve_partitioning(true)),
        None => stage,
    })
}
