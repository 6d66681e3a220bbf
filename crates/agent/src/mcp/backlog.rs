//! Limits the data that the server holds for its client: unanswered requests, and unread answers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of messages.
const MOST_MESSAGES: usize = 1024;
/// Maximum bytes of these messages.
const MOST_BYTES: usize = 64 << 20;

/// Held messages. While there are too many, the server reads no more input, so that no request is lost.
#[derive(Default)]
pub(super) struct Backlog {
    held: Mutex<Held>,
    fell: Condvar,
}

#[derive(Default)]
struct Held {
    messages: usize,
    bytes: usize,
}

impl Backlog {
    /// Adds a request as soon as there is room.
    pub(super) fn admit(&self, bytes: usize) {
        let is_full =
            |held: &mut Held| held.messages >= MOST_MESSAGES || held.messages > 0 && held.bytes + bytes > MOST_BYTES;
        let held = self.fell.wait_while(self.held(), is_full);
        hold(&mut held.unwrap_or_else(PoisonError::into_inner), bytes);
    }

    /// Adds an answer.
    pub(super) fn add(&self, bytes: usize) {
        hold(&mut self.held(), bytes);
    }

    /// Removes an answered request, or a written answer.
    pub(super) fn release(&self, bytes: usize) {
        let mut held = self.held();
        held.messages = held.messages.saturating_sub(1);
        held.bytes = held.bytes.saturating_sub(bytes);
        self.fell.notify_all();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hold(held: &mut Held, bytes: usize) {
    held.messages += 1;
    held.bytes = held.bytes.saturating_add(bytes);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_wait_for_room() {
        let backlog = Backlog::default();
        // A message that is larger than the whole backlog is admitted alone.
        backlog.admit(MOST_BYTES * 2);
        let (sender, admitted) = channel();
        std::thread::scope(|scope| {
            let backlog = &backlog;
            scope.spawn(move || {
                backlog.admit(1);
                sender.send(()).unwrap();
            });
            assert!(admitted.recv_timeout(Duration::from_millis(50)).is_err());
            backlog.release(MOST_BYTES * 2);
            assert!(admitted.recv_timeout(Duration::from_secs(10)).is_ok());
        });
    }
}
