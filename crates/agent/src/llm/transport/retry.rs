//! Decides when a request is sent again, and when to give up.

use std::hash::{BuildHasher as _, Hasher as _};
use std::time::{Duration, Instant};

use super::http::{Answer, HttpFailure};

/// Number of attempts after the first.
const RETRIES: u32 = 2;
/// The default pause before the first retry; it doubles for the next.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Maximum pause that the server did not request.
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// Time limits of one attempt, and of all of them.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub attempt: Duration,
    pub deadline: Duration,
}

/// Returns whether a status may change soon.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

/// Makes attempts until one succeeds, fails permanently, or the time runs out. `attempt` gets its time limit, `on_wait`
/// the pause before the next attempt with its reason. An answer that brought text is never requested again: `has_text`
/// reports whether there is any.
///
/// # Errors
/// The failure of the last attempt.
pub(crate) fn with_retries(
    policy: Policy,
    attempt: &mut dyn FnMut(Duration) -> Result<Answer, HttpFailure>,
    has_text: &dyn Fn() -> bool,
    on_wait: &mut dyn FnMut(Duration, &str),
) -> Result<Answer, HttpFailure> {
    let start = Instant::now();
    let mut retries = 0;
    loop {
        let left = policy.deadline.saturating_sub(start.elapsed());
        let result = attempt(policy.attempt.min(left));
        let (reason, told) = match &result {
            Ok(answer) if is_passing(answer.status) => (format!("status {}", answer.status), answer.retry_after),
            Ok(Answer { cut: Some(HttpFailure::Connection(reason)), .. }) if !has_text() => (reason.clone(), None),
            Err(failure @ HttpFailure::Connection(reason)) if !failure.is_of_certificate() => (reason.clone(), None),
            // A timeout would happen again, and a certificate stays the same.
            _ => return result,
        };
        let wait = told.unwrap_or_else(|| jittered(FIRST_WAIT.saturating_mul(1 << retries).min(LONGEST_WAIT)));
        let left = policy.deadline.saturating_sub(start.elapsed());
        if retries >= RETRIES || wait >= left {
            return result;
        }
        retries += 1;
        on_wait(wait, &reason);
        std::thread::sleep(wait);
    }
}

/// A random time between half of this time and all of it, so that many programs do not retry at once.
fn jittered(time: Duration) -> Duration {
    // The standard library's only source of randomness; no written data depends on it.
    let chance = std::hash::RandomState::new().build_hasher().finish();
    let share = (chance >> 11) as f64 / (1u64 << 53) as f64;
    time.mul_f64(0.5 + share / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy { attempt: Duration::from_secs(5), deadline: Duration::from_secs(10) };

    fn answers(statuses: &[u16], wait: Option<Duration>) -> (Vec<u16>, usize, Vec<Duration>) {
        let (mut attempts, mut waits) = (0, Vec::new());
        let result = with_retries(
            POLICY,
            &mut |_| {
                let status = statuses[attempts.min(statuses.len() - 1)];
                attempts += 1;
                Ok(Answer { status, retry_after: wait, ..Answer::default() })
            },
            &|| false,
            &mut |time, _| waits.push(time),
        );
        (vec![result.unwrap().status], attempts, waits)
    }

    #[test]
    fn what_passes_is_tried_again_twice() {
        let none = Some(Duration::ZERO);
        assert_eq!(answers(&[429, 200], none).1, 2);
        assert_eq!(answers(&[500, 503, 529, 200], none), (vec![529], 3, vec![Duration::ZERO; 2]));
        assert_eq!(answers(&[400, 200], none).1, 1);
        assert_eq!(answers(&[401, 200], none).1, 1);
    }

    #[test]
    fn nobody_waits_longer_than_the_deadline() {
        assert_eq!(answers(&[429, 200], Some(Duration::from_secs(60))), (vec![429], 1, Vec::new()));
    }

    #[test]
    fn jitter_keeps_within_its_half() {
        for _ in 0..100 {
            let time = jittered(Duration::from_secs(1));
            assert!((Duration::from_millis(500)..=Duration::from_secs(1)).contains(&time), "{time:?}");
        }
    }
}
