//! Takes out of requests what must not leave, and puts it back into answers.

mod map;
mod pass;
mod rules;

pub(crate) use map::TokenMap;
pub(crate) use pass::Redactor;
pub(crate) use rules::Rules;
