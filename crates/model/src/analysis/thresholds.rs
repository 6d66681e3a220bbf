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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_bound() {
        let bounds = toml::from_str::<Thresholds>(data!("share/thresholds.toml")).unwrap();
        assert!(bounds.same_work.least_at_place > 0 && bounds.migrating_durations.min_period > 0);
    }
}
