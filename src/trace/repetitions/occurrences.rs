//! Where each symbol of a sequence occurs.

/// Positions of every symbol in rising order.
pub struct Occurrences {
    offsets: Vec<usize>,
    positions: Vec<u32>,
}

impl Occurrences {
    /// Positions in a sequence of symbols numbered from 0.
    pub fn of(sequence: &[u32]) -> Self {
        let symbols = sequence.iter().max().map_or(0, |last| *last as usize + 1);
        let mut offsets = vec![0_usize; symbols + 1];
        for symbol in sequence {
            if let Some(offset) = offsets.get_mut(*symbol as usize + 1) {
                *offset += 1;
            }
        }
        let mut sum = 0;
        for offset in &mut offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut next = offsets.clone();
        let mut positions = vec![0_u32; sequence.len()];
        for (position, symbol) in (0_u32..).zip(sequence) {
            if let Some(place) = next.get_mut(*symbol as usize) {
                if let Some(slot) = positions.get_mut(*place) {
                    *slot = position;
                }
                *place += 1;
            }
        }
        Self { offsets, positions }
    }

    /// Positions of a symbol.
    pub fn of_symbol(&self, symbol: u32) -> &[u32] {
        let bounds = (self.offsets.get(symbol as usize), self.offsets.get(symbol as usize + 1));
        match bounds {
            (Some(from), Some(to)) => self.positions.get(*from..*to).unwrap_or_default(),
            _ => &[],
        }
    }

    /// All symbols.
    pub fn symbols(&self) -> impl ExactSizeIterator<Item = u32> + use<> {
        0..self.offsets.len().saturating_sub(1) as u32
    }

    /// Number of positions whose symbol occurs more than once.
    pub fn recurring(&self) -> usize {
        self.symbols().map(|symbol| self.of_symbol(symbol).len()).filter(|times| *times > 1).sum()
    }
}
