//! Where tables start.

use super::cells::{Cells, Numbers, Texts};
use super::decoder::{Chunk, Decoder, Plan, Stored};
use super::format::Pages;
use super::tree::{measure, walk};

/// A table or index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRoot {
    pub name: String,
    pub page: u32,
}

/// The tables of a file by what its first page says, which has the root of the table of tables; `None` when that is
/// damaged.
pub fn tables(pages: Pages<'_>) -> Option<Vec<TableRoot>> {
    let mut tree = walk(pages, 1);
    let lost = measure(pages, &mut tree.leaves);
    let rows = tree.leaves.iter().map(|leaf| usize::from(leaf.rows)).sum();
    let field = |position| Stored::Field { position, is_real: false, has_default: false };
    let plan = Plan::new(&[field(0), field(1), field(3)], &[], |_| None);
    let (mut ids, mut roots) = (vec![0; rows], vec![0; rows]);
    let columns =
        vec![Cells::Text(Texts::default()), Cells::Text(Texts::default()), Cells::Integer(Numbers::new(&mut roots))];
    let mut chunk = Chunk { rows: 0, ids: &mut ids, columns, lost: Vec::new() };
    Decoder::new(pages, &plan).decode(&tree.leaves, &mut chunk).ok()?;
    if !tree.lost.is_empty() || !lost.is_empty() || !chunk.lost.is_empty() {
        return None;
    }
    let height = chunk.rows;
    let [Cells::Text(types), Cells::Text(names), _] = chunk.columns.as_slice() else { return None };
    let rows = types.texts().zip(names.texts()).take(height);
    let found = rows.map(|(kind, name)| (kind == "table").then(|| name.to_owned())).collect::<Vec<Option<String>>>();
    Some(
        found
            .into_iter()
            .zip(roots)
            .filter_map(|(name, root)| Some(TableRoot { name: name?, page: u32::try_from(root).ok()? }))
            .filter(|table| table.page > 0)
            .collect(),
    )
}
