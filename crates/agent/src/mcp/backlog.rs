//! How much the server holds for its client: requests without an answer, and answers that were not read.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Messages, at most.
const MOST_MESSAGES: usize = 1024;
/// Their bytes, at most.
const MOST_BYTES: usize = 64 << 20;

/// Messages that are held; nothing more is read of the client while they are too many, so that no request is lost.
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
    /// Adds a request as soon as there is room for it.
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

    /// Takes away a request that is answered, or an answer that is written.
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
        // One that is larger than all room is admitted alone.
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
