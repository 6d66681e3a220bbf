//! Bounds that decide which work is compared, what counts as noise, and which GPU stands out: `share/thresholds.toml`, which
//! documents each and has its source.

use serde::Deserialize;

/// All bounds, by subject.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Places that decide how long dispatches take.
    pub same_work: SameWork,
    /// Dispatches that are much slower than others of the same work.
    pub slow_dispatches: SlowDispatches,
    /// Noise, drift and modes of repeated work.
    pub steadiness: SteadinessBounds,
    /// Ranks of one program.
    pub programs: ProgramBounds,
    /// GPUs that titles name.
    pub stands_out: StandsOut,
    /// Durations that moved to other names.
    pub migrating_durations: MigratingDurations,
    /// Clocks that were set.
    pub clock_jumps: ClockBounds,
    /// Calls of collectives that belong together.
    pub matched_collectives: MatchingBounds,
    /// Work that other work waited for.
    pub critical_path: PathBounds,
    /// Sequences of kernels that repeat.
    pub repetitions: RepetitionBounds,
    /// Repetitions within units of work.
    pub layers: LayerBounds,
    /// Slow units at either end of a run.
    pub phases: PhaseBounds,
}

impl Thresholds {
    /// Those of the binary.
    pub fn builtin() -> &'static Self {
        shared!(Thresholds, "share/thresholds.toml")
    }
}

macro_rules! bounds {
    ($(#[$about:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub $field: $kind,)*
            /// For people.
            #[serde(rename = "source")]
            _source: String,
        }
    };
}

bounds! {
    /// See `[same_work]`.
    SameWork { least_at_place: usize, least_placed_pct: usize, most_left: f64 }
}
bounds! {
    /// See `[slow_dispatches]`.
    SlowDispatches { min_z: f64, min_calls: usize }
}
bounds! {
    /// See `[steadiness]`.
    SteadinessBounds {
        min_noise_ns: f64,
        min_noise_share: f64,
        min_calls_for_drift: usize,
        min_calls_for_modes: usize,
        min_mode_part: usize,
        trimmed_part: usize,
    }
}
bounds! {
    /// See `[programs]`.
    ProgramBounds { common_pct: i64 }
}
bounds! {
    /// See `[stands_out]`.
    StandsOut { min_gpus: usize, min_excess_pct: f64, min_distances: f64 }
}
bounds! {
    /// See `[migrating_durations]`.
    MigratingDurations {
        min_period: usize,
        max_period: usize,
        min_repeating_pct: usize,
        min_apart: f64,
        max_rotated: f64,
        min_rotated: usize,
    }
}

bounds! {
    /// See `[clock_jumps]`.
    ClockBounds { backward_ns: i64, gap_ns: i64, sure_gap_ns: i64, min_pct: i64 }
}
bounds! {
    /// See `[matched_collectives]`.
    MatchingBounds {
        clearly_better: i64,
        ticks_ns: i64,
        min_matched_pct: usize,
        min_better_pct: usize,
        min_ranks_of_all: usize,
    }
}
bounds! {
    /// See `[critical_path]`.
    PathBounds { near_ns: i64, near_part: i64, close_ns: i64, unexplained_ns: i64 }
}
bounds! {
    /// See `[repetitions]`.
    RepetitionBounds {
        min_repetitions: usize,
        min_covered: f64,
        same_period: f64,
        irregular_costs: i64,
        least_steady: f64,
        min_explained: f64,
        min_recurring: f64,
        as_many: f64,
        rare: u32,
        as_alike: f64,
        min_alike: f64,
        min_alike_wide: f64,
        min_alike_last: f64,
        min_within: usize,
        nearly_all: f64,
        min_signs: usize,
        min_repetitions_wide: usize,
        min_within_wide: usize,
        same: f64,
        often: f64,
        enough_of_lane: f64,
        enough_alike: f64,
    }
}
bounds! {
    /// See `[layers]`.
    LayerBounds { min_layer: u32, min_kind: u32, min_alike: f64, same: f64, max_turn: usize, enough_of_lane: f64 }
}
bounds! {
    /// See `[phases]`.
    PhaseBounds { min_excess_part: i64, scaled_distances_thousandths: i64, few: usize, most_part: usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_bound() {
        let bounds = toml::from_str::<Thresholds>(data!("share/thresholds.toml")).unwrap();
        assert!(bounds.same_work.least_at_place > 0 && bounds.phases.few > 0);
    }
}
