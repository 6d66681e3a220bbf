//! The units of figures: steady iterations, or the GPU work of ranges with one name.

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use wavesieve_model::analysis::ranges::names::is_named;
use wavesieve_tables::columns::frames::values_by_text;
use wavesieve_tables::columns::values::I64Values;

/// The phase of iterations that are compared.
const STEADY: &str = "steady";

/// Start and end of a window in a process; `None` on an open side.
pub(super) type Bounds = (Option<i64>, Option<i64>);

/// Start and end of units in order of time, without overlaps.
pub(super) type Units = Vec<(i64, i64)>;

/// The steady iterations that lie completely in a window.
pub(super) fn of_iterations(frame: &DataFrame, window: Bounds) -> Result<Units> {
    let starts = I64Values::new(frame.column("start_ns")?.i64()?);
    let ends = I64Values::new(frame.column("end_ns")?.i64()?);
    let is_steady = values_by_text(frame.column("phase")?, |phase| phase == STEADY)?;
    let rows = izip!(starts.iter(), ends.iter(), is_steady);
    Ok(within(rows.filter_map(|(start, end, is)| start.zip(end).filter(|_| is == Some(true))), window))
}

/// The time from first start to last end of the work launched in each range with a name or path. The range must lie
/// completely in a window. If its work lasts beyond the start of the next, it ends there.
pub(super) fn of_ranges(frame: &DataFrame, name: &str, window: Bounds) -> Result<Units> {
    let starts = I64Values::new(frame.column("gpu_start_ns")?.i64()?);
    let ends = I64Values::new(frame.column("gpu_end_ns")?.i64()?);
    let of_name = |column: &str| values_by_text(frame.column(column)?, |text| is_named(text, name));
    let rows = izip!(starts.iter(), ends.iter(), of_name("message")?, of_name("path")?);
    let named = rows.filter(|(_, _, message, path)| *message == Some(true) || *path == Some(true));
    let mut units = within(named.filter_map(|(start, end, _, _)| start.zip(end)), window);
    let next: Vec<i64> = units.iter().skip(1).map(|(start_ns, _)| *start_ns).collect();
    for (unit, next_ns) in units.iter_mut().zip(next) {
        unit.1 = unit.1.min(next_ns);
    }
    units.retain(|(start_ns, end_ns)| start_ns < end_ns);
    Ok(units)
}

fn within(units: impl Iterator<Item = (i64, i64)>, (from, to): Bounds) -> Units {
    let is_whole = |(start_ns, end_ns): &(i64, i64)| {
        from.is_none_or(|from_ns| from_ns <= *start_ns) && to.is_none_or(|to_ns| *end_ns <= to_ns)
    };
    let mut units: Units = units.filter(is_whole).collect();
    units.sort_unstable();
    units
}

/// The number of the unit in which something starts.
pub(super) fn unit_at(units: &[(i64, i64)], start_ns: i64) -> Option<u32> {
    let place = units.partition_point(|(from_ns, _)| *from_ns <= start_ns).checked_sub(1)?;
    units.get(place).filter(|(_, to_ns)| start_ns < *to_ns)?;
    u32::try_from(place).ok()
}

/// How much of an interval lies in any unit.
pub(super) fn in_units(units: &[(i64, i64)], start_ns: i64, end_ns: i64) -> i64 {
    let first = units.partition_point(|(_, ends_ns)| *ends_ns <= start_ns);
    let touched = units.iter().skip(first).take_while(|(from_ns, _)| *from_ns < end_ns);
    touched.fold(0, |sum: i64, (from_ns, to_ns)| {
        sum.saturating_add(end_ns.min(*to_ns).saturating_sub(start_ns.max(*from_ns)).max(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_found_and_measured() {
        let units = [(0, 10), (10, 20), (30, 40)];
        assert_eq!(
            [-1, 0, 9, 10, 25, 39, 40].map(|at| unit_at(&units, at)),
            [None, Some(0), Some(0), Some(1), None, Some(2), None]
        );
        assert_eq!((in_units(&units, 5, 35), in_units(&units, 20, 30), in_units(&units, -5, 50)), (20, 0, 30));
    }

    #[test]
    fn ranges_of_a_name_end_where_the_next_starts() {
        let frame = df!(
            "message" => ["step", "step", "step", "other"],
            "path" => ["step", "train/step", "step", "step"],
            "gpu_start_ns" => [Some(10_i64), Some(0), None, Some(100)],
            "gpu_end_ns" => [Some(30_i64), Some(15), Some(5), Some(120)],
        );
        let frame = frame.unwrap();
        assert_eq!(of_ranges(&frame, "step", (None, None)).unwrap(), [(0, 10), (10, 30), (100, 120)]);
        assert_eq!(of_ranges(&frame, "train/step", (None, None)).unwrap(), [(0, 15)]);
        assert_eq!(of_ranges(&frame, "step", (Some(5), None)).unwrap(), [(10, 30), (100, 120)]);
    }
}
