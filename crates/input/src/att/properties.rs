//! Properties that the parser of instruction statistics guarantees for any bytes.

use std::io::Write as _;

use super::header::is_header;
use super::listing::Listing;
use wavesieve_model::analysis::instructions::{Instruction, InstructionRules, attribute, innermost, outermost};

/// Recognized input can be read; every row is an instruction, a symbol, bad or a note; waits are split among operations
/// before them; links of a chain are in it.
pub fn att_listing(bytes: &[u8]) {
    let Ok(mut stored) = tempfile::NamedTempFile::new() else { return };
    if stored.write_all(bytes).is_err() {
        return;
    }
    let read = Listing::read(stored.path(), "file");
    // A quote that is not closed takes more into the header than its line.
    if is_header(bytes) && !bytes.contains(&b'"') {
        assert!(read.is_ok());
    }
    let Ok(listing) = read else { return };
    assert_eq!(listing.bad > 0, listing.damage.iter().any(|cause| cause.contains("cannot be parsed")));
    let ordinals: Vec<i64> = listing.rows.iter().map(|row| row.ordinal).collect();
    assert!(ordinals.is_sorted_by(|one, other| one < other));
    let rows: Vec<Instruction<'_>> = listing
        .rows
        .iter()
        .map(|row| {
            assert!(row.kernel.is_none_or(|kernel| kernel < listing.kernels.len()));
            for link in row.source.iter().flat_map(|source| [innermost(source), outermost(source)]).flatten() {
                assert!(row.source.as_ref().is_some_and(|source| source.contains(link.file)));
            }
            let place = row.code_object.zip(row.address);
            Instruction { text: &row.instruction, place, kernel: row.kernel.map(|at| at as i64), hits: row.hits }
        })
        .collect();
    for part in attribute(&rows, InstructionRules::builtin()) {
        assert!(part.operation.is_err() || part.operation.is_ok_and(|operation| operation < part.wait));
        assert!(part.wait < rows.len());
    }
}
