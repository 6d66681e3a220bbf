//! Spaces, commands, searches of functions whose best configurations are known, and files of results.

mod functions;
mod searches;
mod spaces;
mod states;
mod texts;
