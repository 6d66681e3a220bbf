//! Help texts, and the generators of manual and reference pages.

pub(crate) mod arrangement;
pub(crate) mod help;
pub(crate) mod pages;
pub(crate) mod rule_pages;
pub(crate) mod skill_pages;
pub(crate) mod upstream_page;
pub(crate) mod verb_pages;
