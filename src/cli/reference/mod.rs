//! Help texts, and the generators of manual and reference pages.

pub mod help;
pub mod pages;
pub mod rule_pages;
pub mod verb_pages;
