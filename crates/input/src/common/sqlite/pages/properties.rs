//! Properties that the page reader guarantees for any bytes.

use super::cells::{Cells, Numbers, Texts};
use super::decoder::{Chunk, Decoder, Plan, Stored};
use super::fault::UnreadablePage;
use super::format::Pages;
use super::row_test::RowTest;
use super::schema::{declared_entries, named_entries};
use super::tree::{Leaf, measure, walk};

/// Number of columns that are read from every table, and of roots that are tried in addition to the roots in the file.
const COLUMNS: usize = 4;
const ROOTS: u32 = 8;

/// For any bytes, row ids rise, every column has a value or a gap for each row, and the rows are the same if leaves are decoded together or
/// one by one.
pub fn sqlite_pages(bytes: &[u8]) {
    let Ok(pages) = Pages::new(bytes) else { return };
    let named = named_entries(pages).unwrap_or_default();
    if let Some(mut declared) = declared_entries(pages) {
        declared.iter_mut().for_each(|entry| entry.sql = None);
        assert_eq!(declared, named);
    }
    let roots: Vec<u32> = named.iter().filter_map(|entry| entry.table_root()).chain(1..=ROOTS).collect();
    for root in roots.into_iter().take(24) {
        let mut tree = walk(pages, root);
        let lost = measure(pages, &mut tree.leaves);
        assert!(tree.leaves.len() <= pages.count() + 1, "root {root}: {} leaves", tree.leaves.len());
        let rows: usize = tree.leaves.iter().map(|leaf| usize::from(leaf.rows)).sum();
        // A page has room for at most half as many cells as bytes.
        assert!(rows <= bytes.len(), "root {root}: {rows} rows");
        let tests = [RowTest::AtLeast(stored(1), i64::MIN), RowTest::SaysSomething(vec![stored(2), Stored::RowId])];
        for tests in [&[][..], &tests[..]] {
            let whole = decode(pages, &tree.leaves, tests);
            let single: Vec<Option<Decoded>> =
                tree.leaves.iter().map(|leaf| decode(pages, std::slice::from_ref(leaf), tests)).collect();
            if let (Some(whole), Some(single)) = (whole, single.into_iter().collect::<Option<Vec<Decoded>>>()) {
                assert_eq!(
                    whole.shown,
                    single.iter().map(|part| part.shown.as_str()).collect::<String>(),
                    "root {root}"
                );
                assert_eq!(whole.lost, single.into_iter().flat_map(|part| part.lost).collect::<Vec<UnreadablePage>>());
            }
        }
        drop(lost);
    }
}

fn stored(position: usize) -> Stored {
    Stored::Field { position, is_real: position == 3, has_default: false }
}

struct Decoded {
    shown: String,
    lost: Vec<UnreadablePage>,
}

/// The rows of some leaves as text; `None` if only SQLite can read them.
fn decode(pages: Pages<'_>, leaves: &[Leaf], tests: &[RowTest<Stored>]) -> Option<Decoded> {
    use std::fmt::Write as _;

    let room: usize = leaves.iter().map(|leaf| usize::from(leaf.rows)).sum();
    let columns: Vec<Stored> = (0..COLUMNS).map(stored).chain([Stored::RowId]).collect();
    let plan = Plan::new(&columns, tests, |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned));
    let (mut ids, mut first, mut second, mut reals) = (vec![0; room], vec![0; room], vec![0; room], vec![0.0; room]);
    let cells = vec![
        Cells::Integer(Numbers::new(&mut first)),
        Cells::Text(Texts::default()),
        Cells::Text(Texts::default()),
        Cells::Real(Numbers::new(&mut reals)),
        Cells::Integer(Numbers::new(&mut second)),
    ];
    let mut chunk = Chunk { rows: 0, ids: &mut ids, columns: cells, lost: Vec::new() };
    Decoder::new(pages, &plan).decode(leaves, &mut chunk).ok()?;
    let (rows, lost) = (chunk.rows, chunk.lost);
    let mut texts: Vec<Vec<String>> = Vec::new();
    let mut gaps: Vec<Vec<bool>> = Vec::new();
    for cells in &chunk.columns {
        let valid = match cells {
            Cells::Integer(numbers) => &numbers.valid,
            Cells::Real(numbers) => &numbers.valid,
            Cells::Text(own) => {
                assert!(own.ends.len() >= rows, "{} texts of {rows} rows", own.ends.len());
                texts.push(own.texts().take(rows).map(str::to_owned).collect());
                &own.valid
            }
        };
        assert!(valid.is_empty() || valid.len() >= rows, "{} marks of {rows} rows", valid.len());
        gaps.push((0..rows).map(|row| valid.get(row).copied().unwrap_or(true)).collect());
    }
    assert!(rows <= room, "{rows} rows where there is room for {room}");
    let ids = ids.get(..rows).unwrap_or_default();
    // Consecutive leaves have rising ids; the decoder checks this with the bounds in the tree.
    assert!(ids.windows(2).all(|pair| pair.first() < pair.get(1)), "{ids:?}");
    let mut shown = String::new();
    for row in 0..rows {
        let number = |values: &[i64], column: usize| {
            let valid = gaps.get(column).and_then(|gaps| gaps.get(row)).copied().unwrap_or(false);
            values.get(row).copied().filter(|_| valid)
        };
        let real = reals.get(row).map(|real| real.to_bits());
        let text = |at: usize| texts.get(at).and_then(|texts| texts.get(row));
        assert_eq!(ids.get(row).copied(), number(&second, 4), "a row id is a column too");
        let _ = writeln!(shown, "{:?} {:?} {:?} {:?} {real:?}", ids.get(row), number(&first, 0), text(0), text(1));
    }
    Some(Decoded { shown, lost })
}
