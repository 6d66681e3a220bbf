//! Small tables that are read as a whole or not at all: the list of tables, and the list of their last row ids.

use std::sync::Arc;

use super::cells::{Cells, Numbers, Texts};
use super::decoder::{Chunk, Decoder, Plan, Stored};
use super::format::Pages;
use super::layout::Layout;
use super::tree::{measure, walk};

/// The first fields of all rows of a table.
pub(super) struct Whole {
    pub rows: usize,
    /// Columns of texts, in order.
    pub texts: Vec<Texts>,
    /// The column of integers.
    pub integers: Vec<i64>,
    /// Whether all values have the expected types.
    pub is_plain: bool,
}

/// The first `columns` of the table with this root; the column at `integers_at` has integers. `None` if any part is damaged.
pub(super) fn whole_table(
    pages: Pages<'_>,
    root: u32,
    columns: usize,
    integers_at: usize,
    layout: Layout,
) -> Option<Whole> {
    let mut tree = walk(pages, root);
    let lost = measure(pages, &mut tree.leaves);
    let rows = tree.leaves.iter().map(|leaf| usize::from(leaf.rows)).sum();
    let field = |position| Stored::Field { position, is_real: false, has_default: false };
    let plan = Plan::new(&(0..columns).map(field).collect::<Vec<_>>(), &[], |_| None);
    let plan = plan.with_layout(Some(Arc::new(layout)));
    let mut integers = vec![0; rows];
    let mut numbers = Some(Cells::Integer(Numbers::new(&mut integers)));
    let cells = (0..columns).map(|at| {
        let own = if at == integers_at { numbers.take() } else { None };
        own.unwrap_or_else(|| Cells::Text(Texts::default()))
    });
    let mut chunk = Chunk { rows: 0, ids: &mut [], columns: cells.collect(), lost: Vec::new() };
    Decoder::new(pages, &plan).decode(&tree.leaves, &mut chunk).ok()?;
    if !tree.lost.is_empty() || !lost.is_empty() || !chunk.lost.is_empty() {
        return None;
    }
    let is_plain = chunk.columns.iter().all(|cells| cells.type_mismatches().found.iter().all(Option::is_none));
    let rows = chunk.rows;
    let texts = chunk.columns.into_iter().filter_map(|cells| match cells {
        Cells::Text(texts) => Some(texts),
        Cells::Integer(_) | Cells::Real(_) => None,
    });
    Some(Whole { rows, texts: texts.collect(), integers, is_plain })
}
