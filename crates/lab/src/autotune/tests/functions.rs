//! Functions in place of programs, whose best configurations are known.

use std::collections::BTreeMap;

use crate::autotune::history::{History, Outcome};
use crate::autotune::random::Random;
use crate::autotune::search::{Search, SearchStep, Settings};
use crate::autotune::space::Space;
use crate::autotune::value::Value;

/// The spaces of these functions: tiles, warps and stages as upstream has them.
pub fn tiles(depths: &[i64], more: &[(&str, &[&str])]) -> Space {
    let numbers: [(&str, &[i64]); 5] = [
        ("BLOCK_K", depths),
        ("BLOCK_M", &[16, 32, 64, 128, 256]),
        ("BLOCK_N", &[16, 32, 64, 128, 256]),
        ("num_stages", &[1, 2, 3, 4, 5]),
        ("num_warps", &[1, 2, 4, 8, 16]),
    ];
    let mut lists: Vec<(String, Vec<Value>)> = numbers
        .iter()
        .map(|(name, values)| {
            ((*name).to_owned(), values.iter().map(|value| Value::Integer((*value).into())).collect())
        })
        .collect();
    for (name, values) in more {
        lists.push(((*name).to_owned(), values.iter().map(|value| Value::Text((*value).to_owned())).collect()));
    }
    let mut configurations: Vec<Vec<Value>> = vec![Vec::new()];
    for (_, values) in &lists {
        let with = |before: &Vec<Value>, value: &Value| [before.as_slice(), std::slice::from_ref(value)].concat();
        configurations =
            configurations.iter().flat_map(|before| values.iter().map(move |value| with(before, value))).collect();
    }
    Space::new(lists.into_iter().map(|(name, _)| name).collect(), &configurations)
}

/// The time of a configuration, in ms; `None` if it fails.
pub type Function = fn(&dyn Fn(&str) -> f64, &dyn Fn(&str) -> String) -> Option<f64>;

pub struct Case {
    pub space: Space,
    /// Deviation of a run, as a share.
    pub noise: f64,
    /// Times of the configurations without noise.
    pub truth: Vec<Option<f64>>,
}

impl Case {
    fn new(space: Space, function: Function, noise: f64) -> Self {
        let truth = (0..space.len())
            .map(|configuration| {
                let values: BTreeMap<String, Value> =
                    space.values(configuration).map(|(name, value)| (name.to_owned(), value.clone())).collect();
                let number = |name: &str| values.get(name).and_then(Value::number).unwrap();
                let text = |name: &str| values.get(name).unwrap().to_string();
                function(&number, &text)
            })
            .collect();
        Self { space, noise, truth }
    }

    pub(crate) fn optimum(&self) -> f64 {
        self.truth.iter().flatten().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn run(&self, configuration: usize, random: &mut Random) -> Outcome {
        let uniform = |random: &mut Random| (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let normal = (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0;
        match self.truth[configuration] {
            Some(time) => Outcome::Value(time * libm::exp(self.noise * normal)),
            None => Outcome::Failed("exit code 1".to_owned()),
        }
    }
}

fn log2(value: f64) -> f64 {
    libm::log2(value)
}

const DEPTHS: &[i64] = &[16, 32, 64, 128];
const CATEGORIES: &[(&str, &[&str])] =
    &[("layout", &["row", "column"]), ("way", &["direct", "split", "stream", "naive"])];

pub fn case(name: &'static str) -> Case {
    // A bowl over logarithms, steeper on one side; its minimum is off the grid of some parameters.
    let smooth: Function = |number, _| {
        let m = log2(number("BLOCK_M")) - 6.2;
        let n = log2(number("BLOCK_N")) - 6.8;
        let k = log2(number("BLOCK_K")) - 5.3;
        let warps = log2(number("num_warps")) - 2.2;
        let stages = number("num_stages") - 2.8;
        Some(2.0 + 0.5 * m * m + 0.4 * n * n + 0.3 * k.abs().powf(1.5) + 0.35 * warps * warps + 0.2 * stages.abs())
    };
    let categories: Function = |number, text| {
        let m = log2(number("BLOCK_M")) - 6.0;
        let n = log2(number("BLOCK_N")) - 7.0;
        let warps = log2(number("num_warps")) - 2.0;
        let stages = number("num_stages") - if text("layout") == "row" { 3.0 } else { 2.0 };
        let k = log2(number("BLOCK_K")) - 5.0;
        let way = match text("way").as_str() {
            "direct" => 1.3,
            "split" => 1.0,
            "stream" => 1.1,
            _ => 1.6,
        };
        let layout = if text("layout") == "row" { 1.0 } else { 1.15 };
        Some(
            way * layout
                * (2.0 + 0.4 * m * m + 0.3 * n * n + 0.2 * k * k + 0.3 * warps * warps + 0.2 * stages * stages),
        )
    };
    // The best warps follow from the tile, the best stages from the depth.
    let interactions: Function = |number, _| {
        let (m, n, k) = (log2(number("BLOCK_M")), log2(number("BLOCK_N")), log2(number("BLOCK_K")));
        let warps = log2(number("num_warps")) - (m + n - 10.0);
        let stages = number("num_stages") - (9.0 - k);
        let tile = m + n - 13.0;
        let shape = m - n + 1.0;
        Some(1.5 + 0.5 * warps * warps + 0.3 * stages * stages + 0.25 * tile * tile + 0.2 * shape * shape)
    };
    // Shared memory runs out at the best configuration.
    let cliff: Function = |number, text| {
        let bytes = 2.0 * number("BLOCK_K") * (number("BLOCK_M") + number("BLOCK_N")) * number("num_stages");
        if bytes > 65_536.0 { None } else { Some(tiled(number, text)) }
    };
    let all = || tiles(DEPTHS, &[]);
    match name {
        "smooth" => Case::new(all(), smooth, 0.0),
        "small" => Case::new(tiles(&[32], &[]), smooth, 0.0),
        "noise" => Case::new(all(), smooth, 0.03),
        "much noise" => Case::new(all(), smooth, 0.1),
        "categories" => Case::new(tiles(&[32, 64], CATEGORIES), categories, 0.01),
        "interactions" => Case::new(all(), interactions, 0.01),
        "cliff" => Case::new(all(), cliff, 0.01),
        "tiles" => Case::new(all(), |number, text| Some(tiled(number, text)), 0.01),
        other => panic!("there is no function {other}"),
    }
}

/// A tiled matrix multiplication with the steps of a device: whole waves of blocks, wavefronts that fit, memory that
/// each tile reads again, and latency that stages hide.
fn tiled(number: &dyn Fn(&str) -> f64, _: &dyn Fn(&str) -> String) -> f64 {
    let (m, n, k) = (number("BLOCK_M"), number("BLOCK_N"), number("BLOCK_K"));
    let (warps, stages) = (number("num_warps"), number("num_stages"));
    let size = 4096.0;
    let blocks = (size / m).ceil() * (size / n).ceil();
    let registers = 32.0 + m * n / (warps * 64.0) + (m + n) * k / (warps * 64.0) / 2.0;
    let resident = (512.0 / registers).floor().clamp(1.0, 8.0) * 4.0;
    let per_unit = (resident / warps).floor().max(1.0);
    let waves = (blocks / (304.0 * per_unit)).ceil();
    let spill = if registers > 512.0 { 1.0 + (registers - 512.0) / 256.0 } else { 1.0 };
    let active = (per_unit * warps).min(16.0);
    let rate = (0.35 + 0.65 * active / 16.0) * m.min(128.0) * n.min(128.0) / (m.min(128.0) * n.min(128.0) + 1500.0);
    let compute = waves * per_unit * m * n * size / (rate * 2.6e8);
    let memory = (blocks * (m + n) * size * 2.0) / 4.0e9 * (1.0 + 0.1 * (log2(k) - 6.0).abs());
    let latency = waves * (size / k) * 2.0e-4 / (stages.min(4.0) * active.max(1.0) / 4.0) * (1.0 + 0.05 * stages);
    spill * (compute.max(memory) + 0.3 * compute.min(memory) + latency) + 0.05
}

pub struct Found {
    pub configurations: usize,
    pub best: Option<usize>,
    pub history: History,
}

pub fn search(case: &Case, settings: Settings) -> Found {
    let mut random = Random::new(settings.seed.wrapping_mul(7919) + 13);
    let mut search = Search::new(&case.space, settings);
    let mut history = History::new(case.space.len());
    loop {
        match search.step(&history) {
            SearchStep::Run(configuration) => history.add(configuration, &case.run(configuration, &mut random)),
            SearchStep::Done(verdict) => {
                return Found { configurations: history.order().len(), best: verdict.best(), history };
            }
        }
    }
}

pub fn settings(seed: u64) -> Settings {
    Settings { seed, seed_fraction: None, prune_factor: 1.75, evaluations: None, repeats: 8, is_maximized: false }
}
