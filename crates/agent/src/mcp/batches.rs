//! JSON-RPC batches: arrays of requests, with one array of answers.

use std::collections::BTreeMap;

/// The place of a request: the number of its batch, and its index there.
pub(super) type RequestPlace = (u64, usize);

/// Unanswered batches.
#[derive(Default)]
pub(super) struct Batches {
    begun: u64,
    open: BTreeMap<u64, Batch>,
}

struct Batch {
    replies: BTreeMap<usize, String>,
    /// Number of unhandled messages.
    missing: usize,
    /// Bytes of its line.
    bytes: usize,
}

/// A batch whose requests are all answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    /// The answers, if any.
    pub line: Option<String>,
    /// Bytes of the line with the requests.
    pub bytes: usize,
}

impl Batches {
    /// Starts a batch with this many messages, at least one, and returns its number.
    pub(super) fn begin(&mut self, messages: usize, bytes: usize) -> u64 {
        self.begun += 1;
        self.open.insert(self.begun, Batch { replies: BTreeMap::new(), missing: messages, bytes });
        self.begun
    }

    /// Adds the answer of a message, if it has one; the last message of a batch returns all answers, in the order of
    /// the requests.
    pub(super) fn take(&mut self, (number, at): RequestPlace, reply: Option<String>) -> Option<Answered> {
        let batch = self.open.get_mut(&number)?;
        batch.missing = batch.missing.saturating_sub(1);
        batch.replies.extend(reply.map(|reply| (at, reply)));
        if batch.missing > 0 {
            return None;
        }
        let Batch { replies, bytes, .. } = self.open.remove(&number)?;
        let replies: Vec<String> = replies.into_values().collect();
        Some(Answered { line: (!replies.is_empty()).then(|| format!("[{}]", replies.join(","))), bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_batch_come_together_and_in_order() {
        let mut batches = Batches::default();
        let (first, second) = (batches.begin(3, 9), batches.begin(1, 5));
        assert_eq!(batches.take((first, 2), Some("c".to_owned())), None);
        assert_eq!(batches.take((second, 0), None), Some(Answered { line: None, bytes: 5 }));
        assert_eq!(batches.take((first, 1), None), None);
        let all = batches.take((first, 0), Some("a".to_owned()));
        assert_eq!(all, Some(Answered { line: Some("[a,c]".to_owned()), bytes: 9 }));
        assert_eq!(batches.take((first, 0), None), None);
    }
}
