//! A moving line while something runs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TICK: Duration = Duration::from_millis(120);

/// Shows the running task and its elapsed time.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    pub(super) fn start(text: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
            bar.set_style(style);
        }
        bar.set_message(text.to_owned());
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    pub(super) fn suspend<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.suspend(act)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
