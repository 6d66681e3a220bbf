//! One event of a trace.

use super::cursor::{Cursor, Quoted, Stop, text_of};
use super::decimal::nanoseconds;
use wavesieve_model::text::fnv::fnv1a;

/// The last member.
const ARGS: &[u8] = b"\"args\":";
/// The other members, in the order in which the profiler writes them.
const ORDER: [&[u8]; 7] = [b"\"ph\":", b"\"cat\":", b"\"name\":", b"\"pid\":", b"\"tid\":", b"\"ts\":", b"\"dur\":"];

/// An event, with its values as they were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    pub phase: &'a [u8],
    pub category: &'a [u8],
    pub name: Quoted<'a>,
    pub pid: &'a [u8],
    pub tid: &'a [u8],
    pub start: &'a [u8],
    pub duration: &'a [u8],
    /// A text that starts with an object, whose end [`members`](super::cursor::members) finds; empty if it is missing.
    pub args: &'a [u8],
    /// Whether a time or duration comes twice; the last one counts.
    pub has_repeated: bool,
}

impl<'a> Event<'a> {
    /// Reads the event that starts at a place, and passes over it.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self, Stop> {
        Self::read_until(cursor, |_| false)
    }

    /// Reads an event that is known to be complete. If its arguments are its last member, as the profiler writes them, they are not passed
    /// over: `args` then also holds the text behind them.
    pub(crate) fn read_known(text: &'a [u8], at: usize) -> Result<Self, Stop> {
        Self::read_until(&mut Cursor::lenient(text, at), Self::has_all_but_arguments)
    }

    fn has_all_but_arguments(&self) -> bool {
        [self.phase, self.category, self.name.raw, self.pid, self.tid, self.start, self.duration]
            .iter()
            .all(|value| !value.is_empty())
    }

    fn read_until(cursor: &mut Cursor<'a>, ends_before_arguments: impl Fn(&Self) -> bool) -> Result<Self, Stop> {
        let mut event = Self::default();
        cursor.expect(b'{', "an event is not an object")?;
        if cursor.take(b'}')? {
            return Ok(event);
        }
        let again = |repeated: bool, value: &[u8]| repeated || !value.is_empty();
        for likely in ORDER.into_iter().chain(std::iter::repeat(ARGS)) {
            match cursor.key_like(likely)? {
                b"ph" => event.phase = cursor.text()?.unwrap_or_default().raw,
                b"cat" => event.category = cursor.text()?.unwrap_or_default().raw,
                b"name" => event.name = cursor.text()?.unwrap_or_default(),
                b"pid" => event.pid = cursor.value()?,
                b"tid" => event.tid = cursor.value()?,
                b"ts" => {
                    event.has_repeated = again(event.has_repeated, event.start);
                    event.start = cursor.value()?;
                }
                b"dur" => {
                    event.has_repeated = again(event.has_repeated, event.duration);
                    event.duration = cursor.value()?;
                }
                b"args" if ends_before_arguments(&event) => {
                    event.args = cursor.rest();
                    return Ok(event);
                }
                b"args" => event.args = cursor.value()?,
                _ => drop(cursor.value()?),
            }
            if !cursor.take(b',')? {
                cursor.expect(b'}', "a comma is missing")?;
                return Ok(event);
            }
        }
        Ok(event)
    }

    pub(crate) fn has_no_length(&self) -> bool {
        nanoseconds(self.duration).unwrap_or(0) == 0
    }
}

/// An integer, which may be written as a text.
pub fn integer(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text_of(value).map_or(value, |quoted| quoted.raw)).ok()?;
    text.parse().ok().or_else(|| {
        // Thread ids may use all bits.
        text.parse::<u64>().ok().map(|number| number as i64)
    })
}

/// The number of a process or thread. Programs that merge the traces of several ranks write the rank next to it.
pub fn number_of(value: &[u8]) -> Option<i64> {
    integer(value).or_else(|| labeled(value).and_then(|(_, number)| number.parse().ok()))
}

/// Distinguishes processes: the number of a process, otherwise a hash of its text.
pub fn identity(value: &[u8]) -> Option<i64> {
    // Process ids are not negative.
    number_of(value).or_else(|| Some(fnv1a(text_of(value)?.raw) as i64 | i64::MIN))
}

/// The label that a merging program wrote next to a process id: `[TP00]` in `[TP00] 5000`, `rank1` in `rank1_5000`.
pub fn label(value: &[u8]) -> Option<&str> {
    labeled(value).map(|(label, _)| label)
}

/// Letters between the label of a rank and a process id.
const SEPARATORS: [char; 7] = [' ', '_', ':', '/', '|', '-', ','];
/// Names that the profiler writes instead of process ids.
const PLACES: [&str; 2] = ["Spans", "Traces"];

/// A label, and the process id or its substitute next to it. The label contains the number of its rank.
fn labeled(value: &[u8]) -> Option<(&str, &str)> {
    if value.first() != Some(&b'"') {
        return None;
    }
    let text = std::str::from_utf8(text_of(value)?.raw).ok()?.trim();
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_process = |text: &str| is_number(text) || PLACES.contains(&text);
    if let Some((label, rest)) = rank_before(text) {
        return Some((label, rest.rsplit(SEPARATORS).next().filter(|last| is_number(last)).unwrap_or_default()));
    }
    let before = text.rsplit_once(SEPARATORS).map(|(label, last)| (label.trim_end_matches(SEPARATORS), last));
    let behind = text.split_once(SEPARATORS).map(|(first, label)| (label.trim_start_matches(SEPARATORS), first));
    before
        .filter(|(label, process)| is_process(process) && has_digit(label))
        .or(behind.filter(|(label, process)| is_process(process) && has_digit(label) && !is_number(label)))
}

/// The rank at the start of a text, such as `rank0` or `Rank 0`, and the rest.
fn rank_before(text: &str) -> Option<(&str, &str)> {
    let word = text.trim_start_matches(['[', '(', '<']).get(..4)?;
    if !word.eq_ignore_ascii_case("rank") {
        return None;
    }
    let first = text.find(|letter: char| letter.is_ascii_digit())?;
    let length = text.get(first..)?.find(|letter: char| !letter.is_ascii_digit());
    text.split_at_checked(length.map_or(text.len(), |length| first + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kineto::cursor::members;

    #[test]
    fn an_event_has_its_values_whatever_their_order() {
        let text = br#" {"name": "a\"b", "args": {"device": 3}, "ts": 1.5, "x": [{}], "ph": "X", "tid": 7, "cat": "kernel"} ,"#;
        let mut cursor = Cursor::new(text, 0);
        let event = Event::read(&mut cursor).unwrap();
        assert_eq!((event.phase, event.category, event.start), (&b"X"[..], &b"kernel"[..], &b"1.5"[..]));
        assert_eq!((event.name.text().as_ref(), event.args), ("a\"b", &br#"{"device": 3}"#[..]));
        assert!(cursor.take(b',').unwrap() && event.has_no_length());
        assert!(Event::read(&mut Cursor::new(b"{}", 0)).is_ok());
    }

    #[test]
    fn an_event_that_is_known_has_the_same_arguments() {
        for text in [
            &br#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 3, "x": [{}]}}, {"y": 1}"#[..],
            br#"{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "args": {"device": 3}, "dur": 2}, {"y": 1}"#,
            br#"{"ph": "i", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1}, {"args": {"device": 3}}"#,
        ] {
            let read = Event::read(&mut Cursor::new(text, 0)).unwrap();
            let known = Event::read_known(text, 0).unwrap();
            let arguments = |event: &Event<'_>| members(event.args).map(|(key, value)| (key.raw.to_vec(), value.to_vec())).collect::<Vec<_>>();
            assert_eq!(arguments(&known), arguments(&read));
            assert_eq!((known.name, known.start, known.duration), (read.name, read.start, read.duration));
        }
    }

    #[test]
    fn labels_stand_before_numbers_of_processes() {
        for (text, expected) in [
            ("\"[TP00] 5000\"", Some(("[TP00]", Some(5000)))),
            ("\"[TP01-DP00] 1\"", Some(("[TP01-DP00]", Some(1)))),
            ("\"[TP00] Spans\"", Some(("[TP00]", None))),
            ("\"rank0_12\"", Some(("rank0", Some(12)))),
            ("\"Rank 1: 12\"", Some(("Rank 1", Some(12)))),
            ("\"rank 1\"", Some(("rank 1", None))),
            ("\"rank1 GPU 3\"", Some(("rank1", Some(3)))),
            ("\"[rank1] python\"", Some(("[rank1", None))),
            ("\"5000 (rank 1)\"", Some(("(rank 1)", Some(5000)))),
            ("\"5000_tp1\"", Some(("tp1", Some(5000)))),
            ("\"node1/python\"", None),
            ("\"Spans\"", None),
            ("\"GPU 0\"", None),
            ("\"5000\"", None),
            ("5000", None),
            ("\"PyTorch Profiler (0)\"", None),
        ] {
            let found = label(text.as_bytes()).map(|label| (label, number_of(text.as_bytes())));
            assert_eq!(found, expected, "{text}");
        }
        let one = identity(b"\"python\"");
        assert!(one.is_some_and(|id| id < 0) && one != identity(b"\"other\""));
        assert_eq!((identity(b"\"[TP00] 5\""), identity(b"\"7\"")), (Some(5), Some(7)));
    }

    #[test]
    fn integers_may_be_texts() {
        let read = |text: &str| integer(text.as_bytes());
        assert_eq!(
            [read("12"), read("\"12\""), read("-1"), read("18446744073709551615")],
            [Some(12), Some(12), Some(-1), Some(-1)]
        );
        assert_eq!([read("1.5"), read("null"), read("")], [None; 3]);
    }
}
