use super::*;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn scan(text: &str, split_every: u64, block: usize) -> FileIndex {
    let mut scanner = Scanner::new(split_every);
    for bytes in text.as_bytes().chunks(block.max(1)) {
        scanner.feed(bytes);
    }
    scanner.finish()
}

fn between(text: &str, start: u64, end: u64) -> &str {
    text.get(start as usize..end as usize).unwrap()
}

fn records(text: &str, section: &Section) -> Vec<Value> {
    let mut all = Vec::new();
    for part in section.parts() {
        let text = between(text, part.start, part.end);
        let text = format!("[{}]", text.trim_end().trim_end_matches(','));
        let part_records: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(part_records.len() as u64, part.rows);
        assert_eq!(all.len() as u64, part.row);
        all.extend(part_records);
    }
    assert_eq!(all.len() as u64, section.rows);
    all
}

#[test]
fn sections_of_two_processes() {
    let text = r#" {"x": [1, {"a": 2}], "rocprofiler-sdk-tool": [
        {"metadata": {"pid": 1, "command": ["a\"]}", "b\\"]}, "agents": [ ], "summary": 5,
         "buffer_records": {"hip_api": [{"a": "}"}, 7 , "x,]" ], "odd": {"b": []}}},
        {"strings": {"marker_api": [[1], [2]], "correlation_id": {"external": [3]}}} ], "y": "z" }"#;
    for block in [1, 2, 7, 1000] {
        let index = scan(text, 0, block);
        assert!(!index.truncated && index.flaw.is_none(), "{index:?}");
        assert_eq!(index.processes.len(), 2);
        let [first, second] = index.processes.as_slice() else { panic!() };
        let names: Vec<(&str, u64)> = first.sections.iter().map(|s| (s.name.as_str(), s.rows)).collect();
        assert_eq!(names, [("metadata", 0), ("agents", 0), ("buffer_records.hip_api", 3), ("buffer_records.odd", 0)]);
        let metadata = &first.sections[0];
        let metadata: Value = serde_json::from_str(between(text, metadata.start, metadata.end)).unwrap();
        assert_eq!(metadata["command"][0], "a\"]}");
        assert_eq!(records(text, &first.sections[2]), [json!({"a": "}"}), json!(7), json!("x,]")]);
        let names: Vec<(&str, u64)> = second.sections.iter().map(|s| (s.name.as_str(), s.rows)).collect();
        assert_eq!(names, [("strings.marker_api", 2), ("strings.correlation_id.external", 1)]);
    }
}

#[test]
fn damage_stays_where_it_is() {
    let wrap = |records: &str| format!(r#"{{"{ROOT_KEY}":[{{"buffer_records":{{"a":[{records}],"b":[1,2]}}}}]}}"#);
    for (records, rows) in [
        // A bracket too few, too many, of the wrong kind.
        (r#"{"x":{"y":1},{"x":2}"#, 1),
        (r#"{"x":1}},{"x":2}"#, 2),
        (r#"{"x":[1}},{"x":2}"#, 2),
        // A quote too few: the scanner recovers at the line end, unless a bracket was lost with it.
        ("{\"x\":\"1\n},\n{\"x\":2}", 2),
        ("{\"x\":\"1},\n{\"x\":2}", 1),
    ] {
        let text = wrap(records);
        let index = scan(&text, 0, 3);
        assert!(index.flaw.is_some(), "{records}");
        let sections: Vec<(&str, u64)> =
            index.processes[0].sections.iter().map(|s| (s.name.as_str(), s.rows)).collect();
        assert_eq!(sections, [("buffer_records.a", rows), ("buffer_records.b", 2)], "{records}");
    }
}

#[test]
fn what_stands_behind_the_end_is_told() {
    let whole = format!(r#"{{"{ROOT_KEY}":[{{"agents":[1,2]}}]}}"#);
    let end = whole.len() as u64;
    for (behind, told) in [
        (" \n\t", None),
        (whole.as_str(), Some((TrailingData::Document, end))),
        (" \n[", Some((TrailingData::Document, end + 2))),
        ("\0\0", Some((TrailingData::Junk, end))),
        (" end {\"", Some((TrailingData::Junk, end + 1))),
    ] {
        for block in [1, 3, 1000] {
            let index = scan(&format!("{whole}{behind}"), 0, block);
            assert_eq!((index.behind, index.flaw, index.truncated), (told, None, false), "{behind}");
            assert_eq!((index.processes.len(), index.processes[0].rows("agents")), (1, 2), "{behind}");
        }
    }
    for behind in ["}", ",\"a\":1}", "]"] {
        let flaw = scan(&format!("{whole}{behind}"), 0, 5).flaw.unwrap();
        assert_eq!((flaw.what, flaw.at), ("there is more after the end", end), "{behind}");
    }
}

#[test]
fn keys_may_be_escaped() {
    let text =
        r#"{"rocprofiler-sdk\u002dtool":[{"\u0061gents":[1,2],"buffer\u005frecords":{"hip\u005Fapi":[3]},"a\q":[4]}]}"#;
    for block in [1, 4, 1000] {
        let index = scan(text, 0, block);
        let names: Vec<(&str, u64)> =
            index.processes[0].sections.iter().map(|section| (section.name.as_str(), section.rows)).collect();
        assert_eq!(names, [("agents", 2), ("buffer_records.hip_api", 1), ("a\\q", 1)]);
    }
}

#[test]
fn great_depth_is_no_recursion() {
    let deep = format!(r#"{{"{ROOT_KEY}":[{{"buffer_records":{{"a":[1,{}"#, "[".repeat(200_000));
    let index = scan(&deep, 0, 1 << 16);
    assert!(index.truncated);
    assert_eq!(index.processes[0].sections[0].rows, 1);
    let closed = format!("{deep}{}{}", "]".repeat(200_000), ",2]}}]}");
    let index = scan(&closed, 0, 1 << 16);
    assert!(!index.truncated && index.flaw.is_none());
    assert_eq!(index.processes[0].sections[0].rows, 3);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[\"\\\\{}\\[\\]:,a\u{e9} \n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"\\\\]{0,3}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn process() -> impl Strategy<Value = Value> {
    let name = prop_oneof![Just("metadata"), Just("agents"), Just("buffer_records"), Just("strings"), Just("other")];
    let group = prop::collection::btree_map("[a-c]", value(), 0..4);
    let any_value = prop_oneof![value(), group.prop_map(|members| Value::Object(members.into_iter().collect()))];
    prop::collection::btree_map(name, any_value, 0..5)
        .prop_map(|members| Value::Object(members.into_iter().map(|(name, v)| (name.to_owned(), v)).collect()))
}

/// The sections of a process as a parser finds them, in the order of the text.
fn expected(process: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut sections = Vec::new();
    let mut add = |name: String, value: &Value| {
        if value.is_object() || value.is_array() {
            sections.push((name, value.clone()));
        }
    };
    for (name, value) in process {
        match value.as_object().filter(|_| GROUPS.contains(&name.as_str())) {
            Some(group) => group.iter().for_each(|(key, value)| add(format!("{name}.{key}"), value)),
            None => add(name.clone(), value),
        }
    }
    sections
}

proptest! {
    #[test]
    fn finds_what_a_parser_finds(
        processes in prop::collection::vec(process(), 0..3),
        pretty in any::<bool>(),
        split_every in 0_u64..60,
        block in 1_usize..50,
    ) {
        let document = json!({ ROOT_KEY: processes });
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
        let text = text.unwrap();
        let index = scan(&text, split_every, block);
        prop_assert!(!index.truncated && index.flaw.is_none());
        prop_assert_eq!(index.processes.len(), processes.len());
        for (found, process) in index.processes.iter().zip(&processes) {
            let expected = expected(process.as_object().unwrap());
            prop_assert_eq!(found.sections.len(), expected.len());
            for (section, (name, value)) in found.sections.iter().zip(expected) {
                prop_assert_eq!(&section.name, &name);
                match value {
                    Value::Array(rows) => prop_assert_eq!(records(&text, section), rows),
                    object => {
                        let own = between(&text, section.start, section.end);
                        prop_assert_eq!(serde_json::from_str::<Value>(own).unwrap(), object);
                    }
                }
            }
        }
    }

    #[test]
    fn a_cut_file_gives_the_whole_records_before_the_cut(
        process in process(), cut in any::<prop::sample::Index>(), block in 1_usize..50,
    ) {
        let text = serde_json::to_string(&json!({ ROOT_KEY: [process] })).unwrap();
        let bytes = &text.as_bytes()[..cut.index(text.len())];
        let whole = scan(&text, 10, block);
        let mut scanner = Scanner::new(10);
        bytes.chunks(block).for_each(|bytes| scanner.feed(bytes));
        let index = scanner.finish();
        prop_assert_eq!(index.truncated, !bytes.is_empty());
        let sections = index.processes.iter().flat_map(|process| &process.sections);
        for (cut, whole) in sections.zip(whole.processes.iter().flat_map(|process| &process.sections)) {
            prop_assert_eq!(&cut.name, &whole.name);
            let rows = records(&text, cut);
            if cut.is_array {
                prop_assert_eq!(rows.as_slice(), &records(&text, whole)[..rows.len()]);
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(prop_oneof![
        Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b','), Just(b':'), Just(b'\\'), Just(b'\n'), any::<u8>()
    ], 0..200)) {
        let mut scanner = Scanner::new(3);
        scanner.feed(format!("{{\"{ROOT_KEY}\":[{{").as_bytes());
        scanner.feed(&bytes);
        let index = scanner.finish();
        for section in index.processes.iter().flat_map(|process| &process.sections) {
            prop_assert!(section.start <= section.end && section.end <= index.length);
            for part in section.parts() {
                prop_assert!(part.start <= part.end && part.rows > 0);
            }
        }
    }
}
