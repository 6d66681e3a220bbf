//! `lab capture`: a program runs with the library that records, and what it recorded is reported.

mod library;
mod missing;
mod report;
mod request;

#[cfg(test)]
mod tests;

pub use library::{LIBRARY, LIBRARY_VARIABLE, find_library};
pub use report::Report;
pub use request::CaptureRequest;
