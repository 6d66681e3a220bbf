//! `lab capture`: runs a program with the recording library, and reports what it recorded.

mod library;
mod missing;
mod report;
mod request;

#[cfg(test)]
mod tests;

pub use library::{LIBRARY, LIBRARY_VARIABLE, find_library};
pub use report::Report;
pub use request::CaptureRequest;
