//! The activity of a GPU, as a row of pieces that do not overlap, and its shares of bins of equal width.

use std::collections::BTreeMap;

use super::shares::encoded;

/// A part of the time of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Number of its kind.
    pub kind: usize,
}

impl Piece {
    /// Its length.
    pub(super) fn length_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns).max(0)
    }
}

/// The pieces, and one of kind `missing` for each time of the run, `[0, span_ns)`, that was not recorded.
pub fn filled(pieces: impl IntoIterator<Item = Piece>, span_ns: i64, missing: usize) -> Vec<Piece> {
    let (mut all, mut reached_ns) = (Vec::new(), 0);
    for piece in pieces {
        if piece.start_ns > reached_ns {
            all.push(Piece { start_ns: reached_ns, end_ns: piece.start_ns.min(span_ns), kind: missing });
        }
        reached_ns = reached_ns.max(piece.end_ns);
        all.push(piece);
    }
    if reached_ns < span_ns {
        all.push(Piece { start_ns: reached_ns, end_ns: span_ns, kind: missing });
    }
    all
}

/// Sorts pieces, and joins neighbors of one kind.
pub(super) fn joined(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.retain(|piece| piece.end_ns > piece.start_ns);
    if !pieces.is_sorted_by_key(|piece| piece.start_ns) {
        pieces.sort_by_key(|piece| (piece.start_ns, piece.end_ns, piece.kind));
    }
    let mut kept: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match kept.last_mut() {
            Some(last) if last.kind == piece.kind && last.end_ns == piece.start_ns => last.end_ns = piece.end_ns,
            _ => kept.push(piece),
        }
    }
    kept
}

/// At most about `cells` pieces for each kind: within cells of equal width, the time of each kind stays, in one piece.
pub(super) fn reduced(pieces: Vec<Piece>, cells: usize) -> Vec<Piece> {
    if pieces.len() <= cells {
        return pieces;
    }
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return pieces };
    let start_ns = first.start_ns;
    let span_ns = last.end_ns.saturating_sub(start_ns);
    let width_ns = (span_ns / i64::try_from(cells.max(1)).unwrap_or(i64::MAX)).max(1);
    let mut kept = Vec::new();
    let mut cell: BTreeMap<usize, i64> = BTreeMap::new();
    let mut cell_start_ns = start_ns;
    let flush = |cell: &mut BTreeMap<usize, i64>, from_ns: i64, kept: &mut Vec<Piece>| {
        let mut at_ns = from_ns;
        for (kind, length_ns) in std::mem::take(cell) {
            kept.push(Piece { start_ns: at_ns, end_ns: at_ns + length_ns, kind });
            at_ns += length_ns;
        }
    };
    for piece in pieces {
        let mut from_ns = piece.start_ns;
        while from_ns < piece.end_ns {
            let number = (from_ns - start_ns) / width_ns;
            let own_ns = start_ns.saturating_add(number.saturating_mul(width_ns));
            if own_ns != cell_start_ns {
                flush(&mut cell, cell_start_ns, &mut kept);
                cell_start_ns = own_ns;
            }
            let next_ns = own_ns.saturating_add(width_ns);
            // A long piece fills whole cells at once.
            if from_ns == own_ns && piece.end_ns >= next_ns {
                flush(&mut cell, cell_start_ns, &mut kept);
                let whole = (piece.end_ns - own_ns) / width_ns;
                let to_ns = own_ns.saturating_add(whole.saturating_mul(width_ns)).min(piece.end_ns);
                kept.push(Piece { start_ns: own_ns, end_ns: to_ns, kind: piece.kind });
                from_ns = to_ns;
                continue;
            }
            let to_ns = piece.end_ns.min(next_ns);
            *cell.entry(piece.kind).or_default() += to_ns - from_ns;
            from_ns = to_ns;
        }
    }
    flush(&mut cell, cell_start_ns, &mut kept);
    joined(kept)
}

/// The time of each kind in each of some bins of equal width over `[0, span_ns)`; bin `i` starts at `i * span_ns / bins`.
pub fn add_to_bins(
    pieces: impl IntoIterator<Item = Piece>,
    (span_ns, bins): (i64, usize),
    sums: &mut BTreeMap<usize, Vec<i64>>,
) {
    // Most pieces are shorter than a bin, and in the bin of the one before: no division is needed then.
    let (mut bin, mut bin_start_ns, mut bin_end_ns) = (0, 0, bin_start(1, span_ns, bins));
    for piece in pieces {
        let (mut from_ns, end_ns) = (piece.start_ns.max(0), piece.end_ns.min(span_ns));
        let row = sums.entry(piece.kind).or_insert_with(|| vec![0; bins]);
        if from_ns < bin_start_ns || from_ns >= bin_end_ns {
            bin = bin_at(from_ns, span_ns, bins);
            (bin_start_ns, bin_end_ns) = (bin_start(bin, span_ns, bins), bin_start(bin + 1, span_ns, bins));
        }
        while from_ns < end_ns {
            let to_ns = bin_end_ns.min(end_ns);
            if let Some(slot) = row.get_mut(bin) {
                *slot += (to_ns - from_ns).max(0);
            }
            from_ns = to_ns.max(from_ns);
            if from_ns < end_ns {
                bin += 1;
                if bin >= bins {
                    break;
                }
                (bin_start_ns, bin_end_ns) = (bin_end_ns, bin_start(bin + 1, span_ns, bins));
            }
        }
    }
}

/// Start of a bin.
pub fn bin_start(bin: usize, span_ns: i64, bins: usize) -> i64 {
    let start = bin as i128 * i128::from(span_ns) / bins.max(1) as i128;
    i64::try_from(start).unwrap_or(i64::MAX)
}

/// The bin of a time.
fn bin_at(time_ns: i64, span_ns: i64, bins: usize) -> usize {
    let guess = i128::from(time_ns.max(0)) * bins as i128 / i128::from(span_ns.max(1));
    let mut bin = usize::try_from(guess).unwrap_or(bins).min(bins.saturating_sub(1));
    // Starts are rounded down, so the guess may be one too low.
    while bin + 1 < bins && bin_start(bin + 1, span_ns, bins) <= time_ns {
        bin += 1;
    }
    bin
}

/// The shares of each kind in bins, as texts of a byte per bin. `sums` has the time of each kind by bin, of `count` GPUs. Kinds without
/// time are left out.
pub fn encoded_shares(
    sums: &BTreeMap<usize, Vec<i64>>,
    count: usize,
    (span_ns, bins): (i64, usize),
) -> BTreeMap<usize, String> {
    let mut bytes: Vec<Vec<u8>> = sums.keys().map(|_| Vec::with_capacity(bins)).collect();
    let mut times: Vec<i64> = Vec::with_capacity(sums.len());
    for bin in 0..bins {
        times.clear();
        times.extend(sums.values().map(|row| row.get(bin).copied().unwrap_or(0)));
        let width_ns = bin_start(bin + 1, span_ns, bins) - bin_start(bin, span_ns, bins);
        let whole_ns = width_ns.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX));
        // Most bins have one kind only.
        let mut used = times.iter().enumerate().filter(|(_, time_ns)| **time_ns > 0);
        if let (Some((only, time_ns)), None) = (used.next(), used.next()) {
            let byte = single_share(*time_ns, whole_ns);
            bytes.iter_mut().enumerate().for_each(|(kind, row)| row.push(if kind == only { byte } else { 0 }));
            continue;
        }
        for (row, byte) in bytes.iter_mut().zip(shares(&times, whole_ns)) {
            row.push(byte);
        }
    }
    let shown = sums.keys().copied().zip(bytes).filter(|(_, row)| row.iter().any(|byte| *byte > 0));
    shown.map(|(kind, row)| (kind, encoded(&row))).collect()
}

/// Maximum number of bins: `usual` if GPUs work all the time, more, up to `most`, if they work in a small part of the run, in which readers
/// look closer.
pub fn most_bins(span_ns: i64, working_ns: i64, (usual, most): (usize, usize)) -> usize {
    let sparse = usize::try_from(span_ns / working_ns.max(1)).unwrap_or(usize::MAX).max(1);
    usual.saturating_mul(sparse).min(most)
}

/// The share of the only kind of a bin, as [`shares`] gives it.
fn single_share(time_ns: i64, whole_ns: i64) -> u8 {
    let whole = i128::from(whole_ns.max(1));
    let rounded = (i128::from(time_ns).clamp(0, whole) * 510 + whole) / (whole * 2);
    u8::try_from(rounded).unwrap_or(u8::MAX).max(u8::from(time_ns > 0))
}

/// Shares of a bin in 255ths, which add up to the rounded share of their sum: the largest rests round up. A share that is not 0 is at
/// least 1, so that short work in long bins stays visible; the largest share gives way.
pub(super) fn shares(times_ns: &[i64], whole_ns: i64) -> Vec<u8> {
    let whole = i128::from(whole_ns.max(1));
    let exact: Vec<i128> = times_ns.iter().map(|time_ns| i128::from(*time_ns).clamp(0, whole) * 255).collect();
    let total: i128 = exact.iter().sum::<i128>().min(whole * 255);
    let wanted = (total * 2 + whole) / (whole * 2);
    let mut bytes: Vec<i128> = exact.iter().map(|time| time / whole).collect();
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(exact.get(*place).map_or(0, |time| time % whole)));
    let mut missing = wanted - bytes.iter().sum::<i128>();
    for place in order {
        if missing <= 0 {
            break;
        }
        if let Some(byte) = bytes.get_mut(place) {
            *byte += 1;
            missing -= 1;
        }
    }
    for (place, time) in exact.iter().enumerate() {
        if *time == 0 || bytes.get(place) != Some(&0) {
            continue;
        }
        let largest = bytes.iter().enumerate().max_by_key(|(place, byte)| (**byte, std::cmp::Reverse(*place)));
        let largest = largest.filter(|(_, byte)| **byte > 1).map(|(place, _)| place);
        if let Some(byte) = largest.and_then(|largest| bytes.get_mut(largest)) {
            *byte -= 1;
        }
        if let Some(byte) = bytes.get_mut(place) {
            *byte = 1;
        }
    }
    bytes.into_iter().map(|byte| u8::try_from(byte).unwrap_or(u8::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timeline::shares::decoded;

    fn row(lengths: &[(i64, i64, usize)]) -> Vec<Piece> {
        let mut at_ns = 0;
        let piece = |(gap, length, kind): &(i64, i64, usize)| {
            let start_ns = at_ns + gap;
            at_ns = start_ns + length;
            Piece { start_ns, end_ns: at_ns, kind: *kind }
        };
        lengths.iter().map(piece).collect()
    }

    fn by_kind(pieces: &[Piece]) -> BTreeMap<usize, i64> {
        let mut sums = BTreeMap::new();
        for piece in pieces {
            *sums.entry(piece.kind).or_insert(0) += piece.length_ns();
        }
        sums.retain(|_, time| *time > 0);
        sums
    }

    #[test]
    fn short_work_in_a_long_bin_is_seen() {
        assert_eq!(shares(&[1, 999_998, 1], 1_000_000), [1, 253, 1]);
        assert_eq!(shares(&[0, 1_000_000], 1_000_000), [0, 255]);
        assert_eq!(shares(&[1], 1_000_000), [1]);
    }

    #[test]
    fn a_bin_with_one_kind_is_as_any_other() {
        for (time_ns, whole_ns) in [(1, 1_000_000), (1, 2), (3, 2), (199, 100_000), (999_999, 1_000_000), (5, 0)] {
            assert_eq!(
                shares(&[0, time_ns], whole_ns),
                [0, single_share(time_ns, whole_ns)],
                "{time_ns} of {whole_ns}"
            );
        }
        let sums = BTreeMap::from([(3, vec![0, 5, 5, 0]), (4, vec![0, 0, 5, 0]), (9, vec![0; 4])]);
        let bytes = encoded_shares(&sums, 1, (40, 4));
        let decoded = |kind: usize| decoded(&bytes[&kind]);
        assert_eq!((bytes.len(), decoded(3), decoded(4)), (2, vec![0, 128, 128, 0], vec![0, 0, 127, 0]));
    }

    #[test]
    fn runs_with_little_work_have_more_bins() {
        assert_eq!(most_bins(1_000, 1_000, (200, 800)), 200);
        assert_eq!(most_bins(1_000, 450, (200, 800)), 400);
        assert_eq!(most_bins(1_000, 0, (200, 800)), 800);
    }

    proptest! {
        #[test]
        fn reduced_pieces_keep_the_time_of_each_kind(
            lengths in prop::collection::vec((0_i64..50, 0_i64..70, 0_usize..4), 1..80), cells in 1_usize..20,
        ) {
            let pieces = joined(row(&lengths));
            let fewer = reduced(pieces.clone(), cells);
            prop_assert_eq!(by_kind(&fewer), by_kind(&pieces));
            prop_assert!(fewer.windows(2).all(|two| two[0].end_ns <= two[1].start_ns));
            if let (Some(first), Some(last)) = (pieces.first(), pieces.last()) {
                let span_ns = last.end_ns - first.start_ns;
                let width_ns = (span_ns / cells as i64).max(1);
                // Each edge moves within its cell only, so sums up to any time are off by less than a cell.
                for at_ns in (0..=last.end_ns).step_by(7) {
                    let until = |pieces: &[Piece]| pieces.iter().filter(|piece| piece.kind == 1)
                        .map(|piece| (piece.end_ns.min(at_ns) - piece.start_ns).max(0)).sum::<i64>();
                    prop_assert!((until(&fewer) - until(&pieces)).abs() <= width_ns);
                }
            }
        }

        #[test]
        fn bins_are_exact(
            lengths in prop::collection::vec((0_i64..50, 0_i64..70, 0_usize..3), 0..40), bins in 1_usize..30,
        ) {
            let pieces = joined(row(&lengths));
            let span_ns = pieces.last().map_or(1, |piece| piece.end_ns + 3);
            let mut sums = BTreeMap::new();
            add_to_bins(pieces.iter().copied(), (span_ns, bins), &mut sums);
            for kind in 0..3 {
                for bin in 0..bins {
                    let (from, to) = (bin_start(bin, span_ns, bins), bin_start(bin + 1, span_ns, bins));
                    let brute = (from..to).filter(|at| pieces.iter().any(|piece| piece.kind == kind
                        && piece.start_ns <= *at && *at < piece.end_ns)).count() as i64;
                    prop_assert_eq!(sums.get(&kind).map_or(0, |row| row[bin]), brute);
                }
            }
        }

        #[test]
        fn shares_add_up(times in prop::collection::vec(0_i64..1000, 0..9), rest in 0_i64..500) {
            let whole = (times.iter().sum::<i64>() + rest).max(1);
            let bytes = shares(&times, whole);
            let total = times.iter().sum::<i64>() as f64 * 255.0 / whole as f64;
            let sum = bytes.iter().map(|byte| i64::from(*byte)).sum::<i64>();
            let exact = |time: &i64| *time as f64 * 255.0 / whole as f64;
            // Those below 1 are raised to 1, and the largest gives way if it can.
            let raised = times.iter().filter(|time| **time > 0 && exact(time) < 1.0).count() as f64;
            let off = sum as f64 - total;
            prop_assert!((-0.5 - 1e-9..=0.5 + raised + 1e-9).contains(&off));
            for (byte, time) in bytes.iter().zip(&times) {
                let off = f64::from(*byte) - exact(time);
                prop_assert!(-1.0 - raised - 1e-9 < off && off < 1.0 + 1e-9);
                prop_assert_eq!(*byte > 0, *time > 0);
            }
        }
    }
}
