//! Intervals that come one after the other, joined where nothing changes.

use crate::analysis::intervals::Interval;

/// Hands intervals over in their order. Those that touch and have the same value become one; empty ones are dropped.
pub(crate) struct Joined<T, F> {
    last: Option<(Interval, T)>,
    emit: F,
}

impl<T: PartialEq, F: FnMut(Interval, T)> Joined<T, F> {
    pub fn new(emit: F) -> Self {
        Self { last: None, emit }
    }

    pub fn push(&mut self, start_ns: i64, end_ns: i64, value: T) {
        let time = Interval::new(start_ns, end_ns);
        match &mut self.last {
            _ if time.is_empty() => {}
            Some((open, of)) if open.end_ns == start_ns && *of == value => open.end_ns = end_ns,
            last => {
                if let Some((done, of)) = last.replace((time, value)) {
                    (self.emit)(done, of);
                }
            }
        }
    }

    pub fn finish(mut self) {
        if let Some((done, of)) = self.last.take() {
            (self.emit)(done, of);
        }
    }
}
