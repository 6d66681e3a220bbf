//! Settings that the environment asks for.

pub(crate) fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub(crate) fn number(name: &str) -> Option<u64> {
    text(name).and_then(|value| value.parse().ok())
}
