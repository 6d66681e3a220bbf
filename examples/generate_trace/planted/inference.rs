//! Runs of a model that answers: one forward pass, or a server with prefills and decode steps. Ranks do not wait for one another.

use anyhow::Result;

use super::layers::{FORWARD_LAYER, LAYER};
use super::{Planted, Rank, usual};
use crate::arguments::Arguments;
use crate::model::{Setup, domain};
use crate::plant::Plant;

/// Layers of the forward pass.
const LAYERS: usize = 24;
/// Prefills, each before the same number of decode steps, and layers of each step.
const PREFILLS: u64 = 2;
const DECODES: u64 = 20;
const STEP_LAYERS: usize = 4;
/// Host time after a step, in which the next one is prepared.
const PREPARED_NS: u64 = 30_000;
/// Positions in the catalogue of the kernels of a layer: norm, matrix product, rotation, attention, matrix product, activation.
const PREFILL_LAYER: [(usize, u64); 6] =
    [(7, 90_000), (0, 610_000), (13, 40_000), (5, 420_000), (1, 730_000), (19, 85_000)];
const DECODE_LAYER: [(usize, u64); 6] = [(10, 12_000), (8, 61_000), (16, 9_000), (17, 48_000), (8, 74_000), (2, 8_000)];

/// Runs each rank.
pub fn run(arguments: &Arguments, plant: Plant, setups: &[Setup]) -> Result<Vec<Planted>> {
    let begin_ns = setups.iter().map(|setup| setup.process.start_ns).max().unwrap_or(0) + 1_500_000_000;
    let ranks = setups.iter().map(|setup| {
        let mut rank = Rank::new(arguments, setup, begin_ns);
        match plant {
            Plant::PrefillDecode => rank.serve()?,
            _ => rank.pass(plant == Plant::OnePass)?,
        }
        rank.done.end_ns = rank.host_ns;
        Ok(rank.done)
    });
    ranks.collect()
}

impl Rank<'_> {
    /// A kernel of about this length, right after the one before.
    fn kernel(&mut self, position: usize, usual_ns: u64) -> Result<()> {
        let duration_ns = usual_ns * self.random.between(996, 1_005) / 1_000;
        self.launch(position, duration_ns, 0).map(|_| ())
    }

    /// Embedding, layers, and what follows them, in a range if it is marked.
    fn pass(&mut self, is_marked: bool) -> Result<()> {
        let begin_ns = self.host_ns;
        self.kernel(18, 35_000)?;
        self.kernel(9, 15_000)?;
        for _ in 0..LAYERS {
            let layer = if is_marked { LAYER.as_slice() } else { &FORWARD_LAYER };
            for kernel in layer {
                self.kernel(kernel.position, kernel.usual_ns)?;
            }
        }
        for last in [usual(7, 30_000), usual(1, 260_000), usual(3, 20_000)] {
            self.kernel(last.position, last.usual_ns)?;
        }
        self.wait_until(self.compute_free_ns);
        if is_marked {
            self.around((domain::MARKER, "roctxThreadRangeA"), Some("forward"), begin_ns, Vec::new());
        }
        Ok(())
    }

    fn serve(&mut self) -> Result<()> {
        for _ in 0..PREFILLS {
            self.step("execute_context_1(512)_generation_0(0)", &PREFILL_LAYER)?;
            for _ in 0..DECODES {
                self.step("execute_context_0(0)_generation_1(1)", &DECODE_LAYER)?;
            }
        }
        Ok(())
    }

    /// A step of the server: embedding, layers and the choice of a token, for which the host waits.
    fn step(&mut self, message: &str, layer: &[(usize, u64)]) -> Result<()> {
        let begin_ns = self.host_ns;
        self.kernel(18, 6_000)?;
        for (position, usual_ns) in std::iter::repeat_n(layer, STEP_LAYERS).flatten() {
            self.kernel(*position, *usual_ns)?;
        }
        self.kernel(3, 14_000)?;
        self.wait_until(self.compute_free_ns);
        self.around((domain::MARKER, "roctxThreadRangeA"), Some(message), begin_ns, Vec::new());
        self.host_ns += PREPARED_NS;
        Ok(())
    }
}
