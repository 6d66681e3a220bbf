//! The path of a range: the messages from the outermost range to it.

use std::collections::BTreeMap;

/// Ranges that lie deeper share the path of their ancestor at this depth, followed by [`DEEPER`].
const DEEPEST: i64 = 128;
const DEEPER: &str = "…";

/// Paths, each stored once.
#[derive(Default)]
pub struct RangePaths {
    texts: Vec<Option<String>>,
    known: BTreeMap<(Option<u32>, u32), u32>,
    deeper: BTreeMap<u32, u32>,
}

impl RangePaths {
    /// Number of the path of a range, from the path of its parent range, its depth (0 is outermost), and the number of
    /// its message.
    pub fn path(&mut self, parent: Option<u32>, depth: i64, message: (u32, &str)) -> u32 {
        let next = self.texts.len() as u32;
        if depth > DEEPEST {
            let Some(parent) = parent else { return self.insert(None, message) };
            if depth > DEEPEST + 1 {
                return parent;
            }
            let text = format!("{}/{DEEPER}", self.text(parent));
            let path = *self.deeper.entry(parent).or_insert(next);
            if path == next {
                self.texts.push(Some(text));
            }
            return path;
        }
        self.insert(parent, message)
    }

    fn insert(&mut self, parent: Option<u32>, (number, message): (u32, &str)) -> u32 {
        if let Some(path) = self.known.get(&(parent, number)) {
            return *path;
        }
        let own = escaped(message);
        let text = match parent {
            Some(parent) => format!("{}/{own}", self.text(parent)),
            None => own,
        };
        let path = self.texts.len() as u32;
        self.texts.push(Some(text));
        self.known.insert((parent, number), path);
        path
    }

    fn text(&self, path: u32) -> &str {
        self.texts.get(path as usize).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The texts of all paths by their numbers.
    pub fn into_texts(self) -> Vec<Option<String>> {
        self.texts
    }
}

/// A message as a part of a path: `/` and `\` are escaped with a `\`.
fn escaped(message: &str) -> String {
    message.replace('\\', "\\\\").replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_joined_and_told_apart() {
        let mut paths = RangePaths::default();
        let step = paths.path(None, 0, (0, "step"));
        let inner = paths.path(Some(step), 1, (1, "a/b\\c"));
        assert_eq!(paths.path(Some(step), 1, (1, "a/b\\c")), inner);
        assert_ne!(paths.path(None, 0, (1, "a/b\\c")), inner);
        let texts = paths.into_texts();
        let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        assert_eq!(texts, ["step", "step/a\\/b\\\\c", "a\\/b\\\\c"]);
    }

    #[test]
    fn deep_paths_end() {
        let mut paths = RangePaths::default();
        let mut parent = None;
        for depth in 0..10_000 {
            parent = Some(paths.path(parent, depth, (0, "f")));
        }
        let texts = paths.into_texts();
        assert_eq!(texts.len(), 130);
        assert!(texts.last().unwrap().as_ref().unwrap().ends_with("f/f/…"));
    }
}
