//! GPU work and its launching calls, if correlation ids do not tie them.
//!
//! Some versions of the profiler on ROCm record no correlation ids, but the id of the operator that launched the work. This is enough for
//! an operator with one launch and one kernel or copy. With more, the trace does not show which belong together.

use anyhow::Result;
use fnv::FnvHashMap;

use super::capture::Capture;
use super::gathered::{Field, Keep, Wanted};
use super::kinds::{HIP, Role};

/// Parts of the names of calls that start work of GPUs.
const STARTS: [&str; 3] = ["launch", "memcpy", "memset"];

/// Correlation ids of events that were recorded without one, by role and event number.
#[derive(Default)]
pub struct Ties(FnvHashMap<(Role, i64), i64>);

/// The work and calls of an operator that have no correlation id.
#[derive(Default)]
struct OfOperator {
    work: Vec<(Role, i64)>,
    calls: Vec<i64>,
}

impl Ties {
    pub fn find(capture: &Capture) -> Result<Self> {
        let mut operators: FnvHashMap<i64, OfOperator> = FnvHashMap::default();
        let fields = [Field::Number, Field::Correlation, Field::External];
        for role in [Role::Kernel, Role::Copy, Role::Region] {
            let is_call = role == Role::Region;
            let keep = if is_call { Keep::OfDomain(HIP) } else { Keep::All };
            let rows = capture.gather(&Wanted { role, keep, fields: &fields, names: is_call })?;
            let starts_work: Vec<bool> = rows
                .names
                .texts
                .iter()
                .map(|name| name.as_deref().unwrap_or_default().to_ascii_lowercase())
                .map(|name| STARTS.iter().any(|part| name.contains(part)))
                .collect();
            for (row, [number, correlation, external]) in rows.rows(fields).enumerate() {
                let (Some(number), None | Some(0), Some(external)) = (number, correlation, external) else { continue };
                if external <= 0 {
                    continue;
                }
                let code = rows.names.codes.get(row).map(|code| *code as usize);
                match code.and_then(|code| starts_work.get(code)) {
                    _ if !is_call => operators.entry(external).or_default().work.push((role, number)),
                    Some(true) => operators.entry(external).or_default().calls.push(number),
                    _ => {}
                }
            }
        }
        let mut ties = Self::default();
        for (external, operator) in operators {
            if let ([work], [call]) = (operator.work.as_slice(), operator.calls.as_slice()) {
                // Recorded ids are never negative.
                ties.0.insert(*work, -external);
                ties.0.insert((Role::Region, *call), -external);
            }
        }
        Ok(ties)
    }

    /// The id to use for an event that was recorded without one.
    pub fn id(&self, role: Role, number: Option<i64>) -> Option<i64> {
        self.0.get(&(role, number?)).copied()
    }
}
