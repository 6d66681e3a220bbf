//! A small seeded generator of random numbers (xoshiro256++ seeded by splitmix64), so that the same arguments give the same bytes.

/// Mixes a 64-bit state into a well distributed number and advances it.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// xoshiro256++.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A stream of its own for every (seed, purpose) pair.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut mixer = seed ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self { state: std::array::from_fn(|_| splitmix64(&mut mixer)) }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [first, second, third, fourth] = self.state;
        let result = first.wrapping_add(fourth).rotate_left(23).wrapping_add(first);
        let mut third_next = third ^ first;
        let mut fourth_next = fourth ^ second;
        let second_next = second ^ third_next;
        let first_next = first ^ fourth_next;
        third_next ^= second << 17;
        fourth_next = fourth_next.rotate_left(45);
        self.state = [first_next, second_next, third_next, fourth_next];
        result
    }

    /// A number in `low..high` (`low` when the interval is empty).
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let width = high.saturating_sub(low).max(1);
        low + self.bits() % width
    }

    /// True once in `one_in` times on average.
    pub fn chance(&mut self, one_in: u64) -> bool {
        self.between(0, one_in) == 0
    }

    /// `base` varied as measured durations vary: ±12 %, now and then far longer.
    pub fn around(&mut self, base: u64) -> u64 {
        let percent = if self.chance(64) { self.between(150, 300) } else { self.between(88, 113) };
        (base * percent / 100).max(1)
    }
}
