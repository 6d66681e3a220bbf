//! Progress of a language model: a line on a terminal, and details if requested.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::messages;
use crate::cli::options::global::GlobalArguments;
use crate::invocation::is_stderr_terminal;
use wavesieve_agent::ask::{DialogueStep, StepListener};
use wavesieve_agent::llm::{Event, Listener};

/// Interval at which the line moves.
const TICK: Duration = Duration::from_millis(120);

/// A line about the awaited response and how much has arrived.
pub(crate) struct ModelProgress<'a> {
    bar: ProgressBar,
    global: &'a GlobalArguments,
    characters: Cell<usize>,
}

impl<'a> ModelProgress<'a> {
    /// Nothing is shown until a provider is asked.
    pub(crate) fn new(global: &'a GlobalArguments) -> Self {
        let is_shown = !global.quiet && is_stderr_terminal();
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
            bar.set_style(style);
        }
        if is_shown {
            bar.enable_steady_tick(TICK);
        }
        Self { bar, global, characters: Cell::new(0) }
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Listener for ModelProgress<'_> {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::Asking { provider, model } => {
                self.bar.set_message(format!("asking {model} of {provider}"));
                messages::detail(self.global, format_args!("asking {model} of {provider}"));
            }
            Event::Text(text) => {
                self.characters.set(self.characters.get() + text.chars().count());
                self.bar.set_message(format!("{} characters of the answer", self.characters.get()));
            }
            Event::Waiting { provider, time, reason } => {
                let text = format!("{provider}: {reason}; trying again in {:.1} s", time.as_secs_f64());
                messages::detail(self.global, &text);
                self.bar.set_message(text);
            }
            Event::MovedOn { error, next } => {
                if !self.global.quiet {
                    self.bar.suspend(|| messages::print_note(format_args!("warning: {error}; asking {next} instead")));
                }
            }
        }
    }
}

impl StepListener for ModelProgress<'_> {
    fn step(&self, step: &DialogueStep, of: usize) {
        self.characters.set(0);
        if !self.global.quiet {
            self.bar.suspend(|| messages::print_note(step.line(of)));
        }
    }
}
