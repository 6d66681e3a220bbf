//! An event, or the sum of several.

/// Index of a name that is missing.
pub const NO_NAME: u32 = u32::MAX;
/// Index of the name of events with different names.
pub const SEVERAL: u32 = 0;

/// An event of a lane, or the sum of several short ones of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Start, from the start of the run.
    pub start_ns: i64,
    /// End minus start.
    pub length_ns: i64,
    /// Time that it covers.
    pub busy_ns: i64,
    /// Its id in its table; -1 for several.
    pub id: i64,
    /// Index of its name.
    pub name: u32,
    /// Index of a name with more about it, [`NO_NAME`] for none.
    pub about: u32,
    /// Number of events.
    pub count: u32,
    /// Index of its kind.
    pub kind: u16,
}

impl Event {
    /// A single event.
    pub fn one((start_ns, end_ns): (i64, i64), id: i64, name: u32, kind: u16, about: u32) -> Self {
        let length_ns = end_ns.saturating_sub(start_ns).max(0);
        Self { start_ns, length_ns, busy_ns: length_ns, id, name, about, count: 1, kind }
    }

    /// Its end.
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.length_ns)
    }

    /// The sum of this and a later one of the same kind, from one start to the other's end.
    #[must_use]
    pub fn joined(&self, later: &Self) -> Self {
        let end_ns = later.end_ns().max(self.end_ns());
        Self { length_ns: end_ns.saturating_sub(self.start_ns), ..self.added(later) }
    }

    /// The sum of this and another of the same kind, as long as what both cover.
    #[must_use]
    pub fn added(&self, other: &Self) -> Self {
        let busy_ns = self.busy_ns.saturating_add(other.busy_ns);
        Self {
            start_ns: self.start_ns,
            length_ns: busy_ns,
            busy_ns,
            id: -1,
            name: if self.name == other.name { self.name } else { SEVERAL },
            about: if self.about == other.about { self.about } else { NO_NAME },
            count: self.count.saturating_add(other.count),
            kind: self.kind,
        }
    }
}
