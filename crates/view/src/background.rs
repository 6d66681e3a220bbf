//! A result that a thread computes once.

use std::sync::Arc;
use std::thread;

use anyhow::{Result, anyhow};
use parking_lot::{Condvar, Mutex};

/// Stack of the thread: plans over thousands of parts are walked recursively.
pub const STACK_BYTES: usize = 16 << 20;

enum State<T> {
    Idle,
    Running,
    Done(Result<Arc<T>, String>),
}

/// State that threads share, and that results are reported to.
pub trait Shared: Send + Sync + 'static {
    /// Called after a result is there.
    fn announce(&self);
}

/// A result that is computed in the background, at most once.
pub struct Background<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// State of a result.
pub enum Known<T> {
    /// Nothing has started it.
    Idle,
    /// It is being computed.
    Running,
    /// The result, or the reason why there is none.
    Done(Result<Arc<T>, String>),
}

impl<T> Default for Background<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State::Idle), changed: Condvar::new() }
    }
}

impl<T: Send + Sync + 'static> Background<T> {
    /// Starts a thread that computes the result, unless one did before. `of` finds this in what the thread shares.
    pub fn start<S: Shared>(
        shared: &Arc<S>,
        of: impl Fn(&S) -> &Self + Copy + Send + 'static,
        compute: impl FnOnce(&Arc<S>) -> Result<T> + Send + 'static,
    ) {
        {
            let own = of(shared);
            let mut state = own.state.lock();
            if !matches!(*state, State::Idle) {
                return;
            }
            *state = State::Running;
        }
        let held = Arc::clone(shared);
        let work = move || {
            let computed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compute(&held)));
            let computed = computed.unwrap_or_else(|_| Err(anyhow!("internal: the computation failed")));
            of(&held).finish(computed);
            held.announce();
        };
        if let Err(error) = thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
            of(shared).finish(Err(anyhow!("cannot start a thread: {error}")));
        }
    }

    fn finish(&self, computed: Result<T>) {
        *self.state.lock() = State::Done(computed.map(Arc::new).map_err(|error| format!("{error:#}")));
        self.changed.notify_all();
    }

    /// The present state.
    pub fn peek(&self) -> Known<T> {
        match &*self.state.lock() {
            State::Idle => Known::Idle,
            State::Running => Known::Running,
            State::Done(done) => Known::Done(done.clone()),
        }
    }

    /// Waits for the result, which must have been started.
    ///
    /// # Errors
    /// When it could not be computed.
    pub fn wait(&self) -> Result<Arc<T>> {
        let mut state = self.state.lock();
        loop {
            match &*state {
                State::Done(done) => return done.clone().map_err(|reason| anyhow!(reason)),
                State::Idle => return Err(anyhow!("internal: nothing computes this")),
                State::Running => self.changed.wait(&mut state),
            }
        }
    }
}
