//! The part of a run in which GPUs work densely, if the run starts or ends with long sparse intervals.

use serde::Deserialize;

const FACTS: &str = data!("share/run_parts.toml");

/// Thresholds that distinguish parts of a run; `share/run_parts.toml` documents each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartThresholds {
    /// Maximum excess of the steady part's iterations over as many medians, in percent.
    pub most_excess_pct: u32,
    bins: u32,
    sparse_pct: f64,
    min_pct: f64,
    least_work_pct: f64,
    /// For people.
    #[serde(rename = "source")]
    _source: String,
}

impl PartThresholds {
    /// The built-in thresholds.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> anyhow::Result<Self> {
        Ok(toml::from_str(FACTS)?)
    }

    /// From the first start to the last end of the dense work, which may be all work. `times_ns` are start and end of
    /// every kernel and copy. `None` if no time passes in it.
    pub fn dense_part(&self, times_ns: &[(i64, i64)]) -> Option<(i64, i64)> {
        let first_ns = times_ns.iter().map(|(start, _)| *start).min()?;
        let last_ns = times_ns.iter().map(|(_, end)| *end).max()?;
        let bins = Bins::new(first_ns, last_ns, self.bins)?;
        let work = bins.work(times_ns);
        let total: f64 = work.iter().sum();
        let usual = work.iter().map(|work| work * work).sum::<f64>() / total;
        let sparse = usual * self.sparse_pct / 100.0;
        let least = (self.min_pct / 100.0 * work.len() as f64).ceil() as usize;
        let most = total * (100.0 - self.least_work_pct) / 100.0;
        let head = sparse_bins(work.iter(), sparse, most, least);
        let tail = sparse_bins(work.iter().rev(), sparse, most, least);
        let is_dense = |work: &&[f64]| work.iter().sum::<f64>() * 100.0 >= self.least_work_pct * total;
        let dense = work.len().checked_sub(tail).and_then(|end| work.get(head..end));
        if dense.filter(is_dense).is_none() {
            return Some((first_ns, last_ns));
        }
        let (from, to) = (bins.edge_ns(head), bins.edge_ns(work.len() - tail));
        let starts = times_ns.iter().map(|(start, _)| *start).filter(|start| *start >= from);
        let ends = times_ns.iter().map(|(_, end)| *end).filter(|end| *end <= to);
        let (start_ns, end_ns) = (starts.min()?, ends.max()?);
        Some(if start_ns < end_ns { (start_ns, end_ns) } else { (first_ns, last_ns) })
    }
}

/// Maximum number of bins from an end whose work averages less than `sparse` and adds up to at most `most`. The last
/// bin is also below `sparse`. 0 if there are fewer than `least`.
fn sparse_bins<'a>(work: impl Iterator<Item = &'a f64>, sparse: f64, most: f64, least: usize) -> usize {
    let mut sum = 0.0;
    let mut bins = 0;
    for (place, work) in work.enumerate() {
        sum += work;
        if sum > most {
            break;
        }
        if *work < sparse && sum < sparse * (place + 1) as f64 {
            bins = place + 1;
        }
    }
    if bins < least.max(1) { 0 } else { bins }
}

/// Equal intervals.
struct Bins {
    first_ns: i64,
    length_ns: i64,
    count: u32,
}

impl Bins {
    fn new(first_ns: i64, last_ns: i64, count: u32) -> Option<Self> {
        let length_ns = last_ns.checked_sub(first_ns).filter(|length| *length > 0 && count > 0)?;
        Some(Self { first_ns, length_ns, count })
    }

    /// The time at which a bin starts.
    fn edge_ns(&self, bin: usize) -> i64 {
        let offset = i128::from(self.length_ns) * bin as i128 / i128::from(self.count);
        self.first_ns.saturating_add(i64::try_from(offset).unwrap_or(i64::MAX))
    }

    fn bin_of(&self, time_ns: i64) -> usize {
        let offset = i128::from(time_ns) - i128::from(self.first_ns);
        let bin = offset * i128::from(self.count) / i128::from(self.length_ns);
        usize::try_from(bin).unwrap_or(0).min(self.count as usize - 1)
    }

    /// Busy time in each bin; overlaps count repeatedly.
    fn work(&self, times_ns: &[(i64, i64)]) -> Vec<f64> {
        let mut work = vec![0_i128; self.count as usize];
        for (start_ns, end_ns) in times_ns {
            for bin in self.bin_of(*start_ns)..=self.bin_of(*end_ns) {
                let from = self.edge_ns(bin).max(*start_ns);
                let to = self.edge_ns(bin + 1).min(*end_ns);
                if let Some(work) = work.get_mut(bin) {
                    *work += (i128::from(to) - i128::from(from)).max(0);
                }
            }
        }
        work.into_iter().map(|work| work as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels of 80 in every 100 from one time to another.
    fn dense(from: i64, to: i64) -> Vec<(i64, i64)> {
        (from..to).step_by(100).map(|start| (start, start + 80)).collect()
    }

    fn part(times: &[Vec<(i64, i64)>]) -> Option<(i64, i64)> {
        PartThresholds::builtin().unwrap().dense_part(&times.concat())
    }

    #[test]
    fn sparse_ends_are_told_apart() {
        let kernel = |start: i64| vec![(start, start + 20)];
        assert_eq!(part(&[dense(0, 100_000)]), Some((0, 99_980)));
        // Few kernels in the first third; the dense work starts within the bin of its first kernel or with the next
        // bin.
        let (from, to) = part(&[kernel(0), kernel(9_000), dense(40_000, 120_000)]).unwrap();
        assert!((40_000..41_200).contains(&from) && from % 100 == 0, "{from}");
        assert_eq!(to, 119_980);
        let (from, to) = part(&[dense(0, 80_000), kernel(100_000), kernel(120_000)]).unwrap();
        assert!(from == 0 && (78_700..=79_980).contains(&to), "{to}");
        // Less than a tenth is not a separate part.
        assert_eq!(part(&[kernel(0), dense(9_000, 100_000)]), Some((0, 99_980)));
    }

    #[test]
    fn what_holds_little_of_the_work_is_no_dense_part() {
        let sparse = |from: i64, to: i64| (from..to).step_by(100).map(|start| (start, start + 8)).collect::<Vec<_>>();
        assert_eq!(part(&[sparse(0, 60_000), dense(60_000, 62_000), sparse(62_000, 100_000)]), Some((0, 99_908)));
        // A dense part between long sparse ends.
        let kernel = |start: i64| vec![(start, start + 20)];
        let (from, to) = part(&[kernel(0), dense(40_000, 50_000), kernel(99_000)]).unwrap();
        assert!((40_000..41_000).contains(&from) && (49_000..=49_980).contains(&to), "{from} {to}");
        assert_eq!(part(&[vec![(5, 5)]]), None);
        assert_eq!(part(&[]), None);
        assert_eq!(part(&[vec![(i64::MIN, i64::MAX)]]), None);
    }
}
