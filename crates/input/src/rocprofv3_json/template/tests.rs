use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::properties::rows;
use super::*;
use crate::json::PADDING;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::{Activity, CountedDispatch, Dispatch, Surveyed};
use crate::rocprofv3_json::structure::gathered::Keep;

fn dispatches() -> Selected {
    Selected::new::<Dispatch>(Keep::Every, |_| true)
}

fn activities(keep: Keep) -> Selected {
    Selected::new::<Activity>(keep, |_| true)
}

/// Spellings of numbers, and other values.
fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => (0_i64..100_000).prop_map(|n| n.to_string()),
        4 => any::<i64>().prop_map(|n| n.to_string()),
        2 => any::<u64>().prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec![
            "null", "true", "false", "-0", "0", "1.5", "2.0", "1e3", "-1E+2", "1e999", "NaN", "01", "18446744073709551616",
            "99999999999999999999999999", "-9223372036854775809", "0.1", "\"7\"", "\"0x1f\"", "\"\"", "\"a\\u00e9\\n\"",
            "\"\\ud800\"", "\"\u{e9}\"", "\"tab\tin\"", "[]", "[1, [2, {\"a\": 3}]]", "{}", "{\"handle\": 5}",
            "{\"value\": 6, \"handle\": 7}", "{\"handle\": null}", "{\"other\": {\"handle\": 1}}", "1.", "-", "tru", "",
        ]).prop_map(str::to_owned),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => prop::sample::select(vec![
            "size", "kind", "operation", "thread_id", "start_timestamp", "end_timestamp", "timestamp", "stream_id", "bytes",
            "allocation_size", "graph_exec_id", "args", "unknown", "x.y", "dispatch_info", "correlation_id",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["thread\\u005fid", "a\\\"b", "\u{e9}", "", "q?", "b!"]).prop_map(str::to_owned),
    ]
}

/// A member of records: its key, its value and its blanks.
#[derive(Clone, Debug)]
struct Member {
    key: String,
    value: Shown,
    blanks: [String; 4],
}

#[derive(Clone, Debug)]
enum Shown {
    Scalar(String),
    Object(Vec<Member>),
}

fn member(depth: u32) -> BoxedStrategy<Member> {
    let blank = || prop_oneof![6 => Just(String::new()), 1 => "[ \n\r\t]{0,3}"];
    let inner_key = prop::sample::select(vec![
        "dispatch_id",
        "agent_id",
        "grid_size",
        "workgroup_size",
        "y",
        "x",
        "internal",
        "external",
        "handle",
        "value",
        "z",
    ]);
    let value = if depth == 0 {
        scalar().prop_map(Shown::Scalar).boxed()
    } else {
        prop_oneof![
            3 => scalar().prop_map(Shown::Scalar),
            1 => prop::collection::vec((inner_key, member(depth - 1)), 0..4).prop_map(|members| {
                let renamed = members.into_iter().map(|(key, member)| Member { key: key.to_owned(), ..member });
                Shown::Object(renamed.collect())
            }),
        ]
        .boxed()
    };
    (key(), value, [blank(), blank(), blank(), blank()])
        .prop_map(|(key, value, blanks)| Member { key, value, blanks })
        .boxed()
}

fn text_of(members: &[Member], scalars: &mut dyn Iterator<Item = String>) -> String {
    let members = members.iter().map(|member| {
        let value = match &member.value {
            Shown::Scalar(value) => scalars.next().filter(|other| !other.is_empty()).unwrap_or_else(|| value.clone()),
            Shown::Object(members) => text_of(members, scalars),
        };
        let [a, b, c, d] = &member.blanks;
        format!("{a}\"{}\"{b}:{c}{value}{d}", member.key)
    });
    format!("{{{}}}", members.collect::<Vec<String>>().join(","))
}

/// Compares a run with the general parser, and returns whether there is a template.
fn check(selected: &Selected, text: &str) -> bool {
    properties::check(selected, text.as_bytes())
}

fn record(number: i64) -> Value {
    json!({
        "size": 184, "kind": 11, "operation": 2, "thread_id": 908, "correlation_id": {"internal": number, "external": 0},
        "start_timestamp": 63_857_982_592_000_i64 + number, "end_timestamp": 63_857_982_594_840_i64, "name": "a b",
        "dispatch_info": {"size": 72, "agent_id": {"handle": 37946}, "kernel_id": 8, "dispatch_id": number,
            "workgroup_size": {"x": 512, "y": 1, "z": 1}, "grid_size": {"x": 512, "y": number % 7, "z": 1}},
        "args": [{"type": "int", "value": "1"}], "ratio": 0.5, "flag": true, "stream_id": {"handle": 0}
    })
}

fn listed(records: &[Value], pretty: bool) -> String {
    let spell = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
    let text = spell(&records.to_vec()).unwrap();
    text.trim_start_matches('[').trim_end_matches(']').trim().to_owned() + ","
}

#[test]
fn records_of_the_profiler_fit() {
    let records: Vec<Value> = (1..200).map(record).collect();
    for pretty in [false, true] {
        let text = listed(&records, pretty);
        let padded = [text.as_bytes(), &[0; PADDING]].concat();
        let selected = dispatches();
        let by_templates_alone = selected.by_templates_alone();
        let mut runner = Runner::new(&selected, &padded).unwrap();
        runner.select(&by_templates_alone);
        let run = runner.run(&padded, 0, text.len());
        assert_eq!((run.records, run.stop, run.end), (199, Stop::Limit, text.len()));
        let names = selected.names();
        let column = |name: &str| rows(&run.columns[names.iter().position(|known| *known == name).unwrap()]);
        let ids: Vec<Option<i64>> = (1..200).map(Some).collect();
        assert_eq!(column("dispatch_id"), ids);
        assert_eq!(column("agent_id"), vec![Some(37946); 199]);
        assert_eq!(column("correlation_id"), ids);
        assert_eq!(column("graph_exec_id"), vec![None; 199]);
        let from = text.len() / 2;
        let guess = runner.guess(&padded, from).unwrap();
        let rest = text.get(guess..).unwrap();
        assert!(guess >= from && rest.starts_with('{') && check(&dispatches(), rest));
    }
}

#[test]
fn what_a_struct_refuses_is_no_template() {
    for text in [
        r#"{"dispatch_info": [1, 2], "thread_id": 1},"#,
        r#"{"thread_id": 1, "thread_id": 2},"#,
        r#"{"dispatch_info": {"dispatch_id": "7"}},"#,
        r#"{"stream_id": {"handle": "7"}},"#,
        r#"{"thread\u005fid": 1},"#,
        r#"{"correlation_id": -9223372036854775809},"#,
        r#"[1],"#,
        r#"5,"#,
        r#"{"a": 1"#,
        r#"{"a": 1e999},"#,
    ] {
        let padded = [text.as_bytes(), &[0; PADDING]].concat();
        assert!(Runner::new(&dispatches(), &padded).is_none(), "{text}");
    }
}

#[test]
fn several_layouts_are_known_at_once() {
    let mut records: Vec<Value> = (1..100).map(record).collect();
    for (at, record) in records.iter_mut().enumerate() {
        let members: &mut Map<String, Value> = record.as_object_mut().unwrap();
        match at % 5 {
            1 => drop(members.remove("stream_id")),
            2 => drop(members.insert("graph_exec_id".to_owned(), json!(at))),
            3 => drop(members.insert("thread_id".to_owned(), Value::Null)),
            4 => drop(members.insert("start_timestamp".to_owned(), json!(1.5 * at as f64))),
            _ => {}
        }
    }
    assert!(check(&dispatches(), &listed(&records, false)));
    assert!(check(&activities(Keep::WithLength), &listed(&records, true)));
}

fn runner() -> TestRunner {
    TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })
}

/// Whether records of these members must have a template: integers under plain keys, each key once, and no integer in the place of an
/// object or an array.
fn is_plain(members: &[Member]) -> bool {
    // Integers of 19 digits may be left to the general parser.
    let is_integer =
        |value: &str| value.len() < 19 && value.parse::<i64>().is_ok_and(|number| number.to_string() == value);
    let is_alone = |key: &str| members.iter().filter(|member| member.key == key).count() == 1;
    members.iter().all(|Member { key, value, .. }| {
        let is_plain_key = key.is_ascii()
            && !key.contains(['\\', '.', '?', '!'])
            && !["dispatch_info", "args"].contains(&key.as_str());
        is_plain_key && is_alone(key) && matches!(value, Shown::Scalar(value) if is_integer(value))
    })
}

#[test]
fn templates_read_what_the_general_parser_reads() {
    let mut runner = runner();
    let cases = (
        prop::collection::vec(member(2), 0..7),
        prop::collection::vec(scalar(), 0..40),
        "[ \n]{0,2}",
        prop::sample::select(vec![Keep::Every, Keep::WithLength, Keep::WithoutLength]),
        prop::option::weighted(0.2, any::<Index>()),
    );
    let (learnt, plain) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&cases, |(members, scalars, blank, keep, cut)| {
        let mut scalars = scalars.into_iter();
        let records: Vec<String> = (0..6)
            .map(|round| match round % 2 {
                0 => text_of(&members, &mut std::iter::empty()),
                _ => text_of(&members, &mut scalars),
            })
            .collect();
        let mut text = records.join(&format!(",{blank}")) + ",";
        if let Some(cut) = cut {
            let cut = cut.index(text.len());
            let cut = (0..=cut).rev().find(|cut| text.is_char_boundary(*cut)).unwrap_or(0);
            text.truncate(cut);
        }
        let has_template = [check(&dispatches(), &text), check(&activities(keep), &text)];
        check(&Selected::new::<Surveyed>(keep, |_| true), &text);
        check(&Selected::new::<CountedDispatch>(keep, |columns| columns.contains(&"tid")), &text);
        if is_plain(&members) && text.len() > records[0].len() {
            prop_assert_eq!(has_template, [true; 2], "{}", text);
            plain.set(plain.get() + 1);
        }
        learnt.set(learnt.get() + u32::from(has_template[0]));
        Ok(())
    });
    outcome.unwrap();
    // Most generated records are irregular, so that the general parser reads them.
    assert!(learnt.get() > 500 && plain.get() > 200, "{} with a template, {} plain", learnt.get(), plain.get());
}

/// A byte with a meaning in JSON.
fn byte() -> impl Strategy<Value = u8> {
    prop::sample::select(b"\"\\{}[],:0-9e.\n x\x00".to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_damaged_byte_changes_nothing(at in any::<Index>(), byte in byte(), pretty in any::<bool>()) {
        let records: Vec<Value> = (1..6).map(record).collect();
        let mut bytes = listed(&records, pretty).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8(bytes).unwrap();
        let has_template = [check(&dispatches(), &text), check(&activities(Keep::WithoutLength), &text)];
        let is_behind_the_first = at >= listed(&records[..1], pretty).len();
        prop_assert!(!is_behind_the_first || has_template == [true; 2], "{}", text);
    }
}

#[test]
fn what_is_skipped_a_parser_accepts() {
    let mut runner = runner();
    let whole = record(3).to_string();
    assert_eq!(skip_value(&[whole.as_bytes(), &[0; PADDING]].concat()), Some(whole.len()));
    let damaged = (any::<Index>(), byte()).prop_map(move |(at, byte)| {
        let mut bytes = whole.clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        String::from_utf8(bytes).unwrap()
    });
    let texts = prop_oneof!["[\\[\\]{}\",:0-9a-c\\\\.e \n-]{0,24}", damaged];
    let (numbers, containers) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&texts, |text| {
        let padded = [text.as_bytes(), &[0; PADDING]].concat();
        if let Some(length) = skip_value(&padded) {
            let value = serde_json::from_slice::<serde::de::IgnoredAny>(&padded[..length]);
            prop_assert!(value.is_ok(), "{}", text);
            let skipped = if text.starts_with(['[', '{']) { &containers } else { &numbers };
            skipped.set(skipped.get() + 1);
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(
        numbers.get() > 100 && containers.get() > 100,
        "{} numbers, {} containers",
        numbers.get(),
        containers.get()
    );
}
