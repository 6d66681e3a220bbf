//! Time windows: their grammar, and their meaning in one process.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::bound::{Bound, MarkerName};

/// First start and last end of a process, in nanoseconds of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSpan {
    /// First start.
    pub start_ns: i64,
    /// Last end.
    pub end_ns: i64,
}

/// An interval as written on the command line, which is resolved in every process.
///
/// `FROM:TO`. A side is `10%` of the process's span, `+500ms` after its start, `-500ms` before its end, a time of the source's clock
/// (nanoseconds, or with a unit) or `@text`, the first ROCTx range or mark with that text (`@text/2` the third); an empty side is open.
/// `@text` by itself is that range. A text with `:` or `/` is put in double quotes. `steady` by itself is the part of the run that repeats
/// evenly, or the dense part if nothing repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    written: String,
    is_steady: bool,
    from: Option<Bound>,
    to: Option<Bound>,
}

/// The word for the part of a run that repeats evenly.
const STEADY: &str = "steady";

impl Window {
    /// The part of the run that repeats evenly, or works densely if nothing repeats.
    pub fn steady() -> Self {
        Self { written: STEADY.to_owned(), is_steady: true, from: None, to: None }
    }

    /// Whether it is the steady part, which needs the kernels of a process.
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// The window in a process: its start and end, `None` if that side is open.
    ///
    /// `marker` returns the extent of a marker. The result is `None` if a side cannot be determined: without a span for a relative side, or
    /// without the marker.
    pub fn resolve(
        &self,
        span: Option<WindowSpan>,
        marker: impl Fn(&MarkerName) -> Option<WindowSpan>,
    ) -> Option<(Option<i64>, Option<i64>)> {
        let side = |bound: &Option<Bound>, edge: fn(WindowSpan) -> i64| -> Option<Option<i64>> {
            match bound {
                None => Some(None),
                Some(Bound::Marker(name)) => Some(Some(edge(marker(name)?))),
                Some(bound) => Some(Some(bound.time_ns(span)?)),
            }
        };
        Some((side(&self.from, |span| span.start_ns)?, side(&self.to, |span| span.end_ns)?))
    }

    /// Whether a side depends on the span of the process.
    pub(crate) fn is_relative(&self) -> bool {
        [&self.from, &self.to].into_iter().flatten().any(Bound::is_relative)
    }

    pub fn markers(&self) -> BTreeSet<&MarkerName> {
        [&self.from, &self.to].into_iter().flatten().filter_map(Bound::marker).collect()
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = || {
            format!(
                "{text} is not a window; write FROM:TO with sides such as 10%, +500ms, a time in ns or @marker, or @marker or steady alone"
            )
        };
        if text.trim() == STEADY {
            return Ok(Self::steady());
        }
        let (from, rest) = side(text.trim()).map_err(|reason| reason.unwrap_or_else(shape))?;
        let window = match rest {
            None => match from {
                Some(Bound::Marker(_)) => Self { written: text.to_owned(), is_steady: false, to: from.clone(), from },
                _ => return Err(shape()),
            },
            Some(rest) => {
                let (to, rest) = side(rest).map_err(|reason| reason.unwrap_or_else(shape))?;
                if rest.is_some() {
                    return Err(shape());
                }
                Self { written: text.to_owned(), is_steady: false, from, to }
            }
        };
        let reversed = match (&window.from, &window.to) {
            (Some(Bound::Absolute(from)), Some(Bound::Absolute(to)))
            | (Some(Bound::Share(from)), Some(Bound::Share(to)))
            | (Some(Bound::AfterStart(from)), Some(Bound::AfterStart(to)))
            | (Some(Bound::BeforeEnd(to)), Some(Bound::BeforeEnd(from))) => to < from,
            _ => false,
        };
        if reversed { Err(format!("the window {text} ends before it starts; swap its sides")) } else { Ok(window) }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

/// One side, and the text after its colon; an error without text means a wrong shape.
fn side(text: &str) -> Result<(Option<Bound>, Option<&str>), Option<String>> {
    if let Some(marker) = text.strip_prefix('@') {
        let (name, rest) = marker_name(marker)?;
        return Ok((Some(Bound::Marker(name)), rest));
    }
    let (own, rest) = match text.split_once(':') {
        Some((own, rest)) => (own, Some(rest)),
        None => (text, None),
    };
    let own = own.trim();
    if own.is_empty() {
        return Ok((None, rest));
    }
    Ok((Some(Bound::parse(own).map_err(Some)?), rest))
}

/// `text`, `text/2` or `"te:xt"/2`, and the text after the colon that follows.
fn marker_name(text: &str) -> Result<(MarkerName, Option<&str>), Option<String>> {
    let (name, behind) = match text.strip_prefix('"') {
        Some(quoted) => {
            quoted.split_once('"').ok_or_else(|| Some(format!("@{text} lacks its closing quote; add it")))?
        }
        None => {
            let end = text.find([':', '/']).unwrap_or(text.len());
            text.split_at_checked(end).ok_or(None)?
        }
    };
    let (index, rest) = match behind.split_once(':') {
        Some((index, rest)) => (index, Some(rest)),
        None => (behind, None),
    };
    let index = match index.strip_prefix('/') {
        Some(number) => {
            let wrong = || Some(format!("/{number} after a marker is not a number; count from 0"));
            Some(number.trim().parse().map_err(|_| wrong())?)
        }
        None if index.trim().is_empty() => None,
        None => return Err(None),
    };
    if name.is_empty() {
        return Err(Some("the text after @ is empty; write the text of a ROCTx range".to_owned()));
    }
    Ok((MarkerName { text: name.to_owned(), index }, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPAN: WindowSpan = WindowSpan { start_ns: 1_000, end_ns: 2_000 };

    fn resolved(text: &str) -> Option<(Option<i64>, Option<i64>)> {
        let markers = [("step", None, 1_100, 1_200), ("step", Some(2), 1_500, 1_600), ("a:b", None, 1_700, 1_800)];
        text.parse::<Window>().unwrap().resolve(Some(SPAN), |name| {
            markers
                .iter()
                .find(|(text, index, _, _)| (*text, *index) == (name.text.as_str(), name.index))
                .map(|(_, _, start_ns, end_ns)| WindowSpan { start_ns: *start_ns, end_ns: *end_ns })
        })
    }

    #[test]
    fn every_form() {
        for (text, from, to) in [
            ("10%:90%", Some(1_100), Some(1_900)),
            ("12.5%:", Some(1_125), None),
            (":50%", None, Some(1_500)),
            ("+100:+300ns", Some(1_100), Some(1_300)),
            ("+0.1us:-100", Some(1_100), Some(1_900)),
            ("1200:1300", Some(1_200), Some(1_300)),
            ("1.2us:1300ns", Some(1_200), Some(1_300)),
            (":", None, None),
            ("@step", Some(1_100), Some(1_200)),
            ("@step/2", Some(1_500), Some(1_600)),
            ("@step:@step/2", Some(1_100), Some(1_600)),
            ("@\"a:b\"", Some(1_700), Some(1_800)),
            ("@\"a:b\":90%", Some(1_700), Some(1_900)),
            (":@step", None, Some(1_200)),
        ] {
            assert_eq!(resolved(text), Some((from, to)), "{text}");
        }
    }

    #[test]
    fn what_is_unknown_in_a_process() {
        assert_eq!(resolved("@other"), None);
        let relative: Window = "10%:".parse().unwrap();
        assert_eq!(relative.resolve(None, |_| None), None);
        assert!(relative.is_relative());
    }

    #[test]
    fn what_is_no_window() {
        for text in ["", "10%", "5", "90%:10%", "101%:", "1:2:3", "@", "@\"open", "@a/x", "x:y", "+:", "-1e3:"] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,24}") {
            if let Ok(window) = text.parse::<Window>() {
                let _ = window.resolve(Some(SPAN), |_| Some(SPAN));
            }
        }
    }
}
