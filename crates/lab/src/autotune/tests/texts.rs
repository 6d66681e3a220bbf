use std::collections::BTreeSet;
use std::fs;

use super::spaces::{shown, space};
use crate::autotune::space_file::space_of_parameters;
use crate::autotune::template::Template;
use crate::autotune::value::Value;
use crate::autotune::{Outcome, Space, State, Subject};

/// Texts that are numbers, nearly numbers, or different spellings of one number.
const TYPED: &[&str] = &[
    "6.1",
    "6.10",
    "6.100",
    "1e3",
    "1E3",
    "1000",
    "1000.0",
    "007",
    "7",
    "+7",
    "-0",
    "0",
    "0.0",
    "-0.0",
    " 5",
    "5",
    ".5",
    "0.5",
    "00.5",
    "18446744073709551615",
    "18446744073709551614",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "9007199254740993",
    "9007199254740993.5",
    "0.1000000000000000055511151231257827",
    "1.7976931348623157e308",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "true",
    "null",
    "0x10",
    "1_000",
    "é {a}",
    "",
];

fn texts(space: &Space) -> Vec<String> {
    shown(space).iter().map(|line| line.strip_prefix("a=").unwrap().to_owned()).collect()
}

/// Checks the texts as the command, the file of results and documents show them.
fn check_texts(expected: &[&str]) {
    let space = space_of_parameters(&[format!("a={}", expected.join(","))], &[]).unwrap();
    let found: BTreeSet<String> = texts(&space).into_iter().collect();
    assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect());
    assert_eq!((space.len(), space.duplicates), (expected.len(), 0));
    let words = ["run".to_owned(), "{a}".to_owned()];
    let template = Template::new(&words, &space).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let subject = Subject::new(&space, &words, "wall".to_owned());
    let (mut state, _) = State::open(&path, &subject, &space).unwrap();
    for (configuration, text) in texts(&space).iter().enumerate() {
        assert_eq!(template.words(&space, configuration), ["run", text]);
        state.add(&space, configuration, &Outcome::Value(1.0 + configuration as f64), 0.1).unwrap();
        let (_, value) = space.values(configuration).next().unwrap();
        let printed = serde_json::to_string(value).unwrap();
        let as_text = serde_json::to_string(text).unwrap();
        assert!(printed == *text && value.number().is_some() || printed == as_text, "{text}: {printed}");
    }
    drop(state);
    let (_, history) = State::open(&path, &subject, &space).unwrap();
    assert_eq!(history.order(), (0..space.len()).collect::<Vec<_>>());
    for configuration in 0..space.len() {
        assert_eq!(history.values(configuration), Some(&[1.0 + configuration as f64][..]));
    }
    let kept = fs::read_to_string(&path).unwrap();
    for text in expected {
        let text = serde_json::to_string(text).unwrap();
        assert!(kept.contains(&format!("{{\"a\":{text}}}")), "{text}: {kept}");
    }
}

#[test]
fn texts_of_the_command_line_stay_as_they_are() {
    check_texts(TYPED);
    let numbers: Vec<&str> = TYPED.iter().copied().filter(|text| Value::typed(text).number().is_some()).collect();
    assert!(numbers.len() > 20);
    check_texts(&numbers);
    for one in TYPED {
        for two in TYPED.iter().filter(|two| **two != *one) {
            let space = space_of_parameters(&[format!("a={one},{two}")], &[]).unwrap();
            assert_eq!(texts(&space), [*one, *two]);
        }
    }
    // Equal texts are duplicates, and equal numbers do not make a scale.
    let twice = space_of_parameters(&["a=6.1,6.10,6.1".to_owned()], &[]).unwrap();
    assert_eq!((texts(&twice), twice.duplicates), (vec!["6.1".to_owned(), "6.10".to_owned()], 1));
    assert_eq!(twice.parameters[0].numbers(), None);
    let scale = space_of_parameters(&["a=1e3,20,6.10".to_owned()], &[]).unwrap();
    assert_eq!(scale.parameters[0].numbers(), Some(vec![6.1, 20.0, 1000.0]));
    let conditions = ["a == '6.10'", "a > 6 and a != '6.1'"];
    for condition in conditions {
        let met = space_of_parameters(&["a=6.1,6.10,5".to_owned()], &[condition.to_owned()]).unwrap();
        assert_eq!(texts(&met), ["6.10"], "{condition}");
    }
}

#[test]
fn numbers_of_files_are_as_json_prints_them() {
    let list = "[18446744073709551615, 18446744073709551614, 9007199254740993, 9007199254740992, -9223372036854775808, \
                32, 32.0, 1e3, 0.1, \"007\", true]";
    let expected = "18446744073709551615 18446744073709551614 9007199254740993 9007199254740992 -9223372036854775808 \
                    32 32.0 1000.0 0.1 007 true";
    let found = space(&format!("{{\"parameters\": {{\"a\": {list}}}}}"), false).unwrap();
    assert_eq!(texts(&found).join(" "), expected);
    let toml =
        "parameters.a = [9223372036854775807, 9223372036854775806, 9007199254740993, 32, 32.0, 1e3, 1_000, 0x10]";
    let mut found = texts(&space(toml, true).unwrap());
    found.sort();
    assert_eq!(found.join(" "), "1000 1000.0 16 32 32.0 9007199254740993 9223372036854775806 9223372036854775807");
    // Ranges of integers are exact too.
    for (range, expected) in [
        ("{\"from\": 18446744073709551613, \"to\": 18446744073709551615}", "13 14 15"),
        ("{\"from\": 18446744073709551609, \"to\": 18446744073709551615, \"step\": 5}", "09 14"),
        ("{\"from\": 3, \"to\": 18446744073709551615, \"times\": 18446744073709551615}", "3"),
        ("{\"from\": 5, \"to\": 18446744073709551615, \"times\": 4294967296}", "5 80"),
        ("{\"from\": 0.5, \"to\": 2, \"times\": 2}", ".5 1 2"),
        ("{\"from\": 0.12345678901234, \"to\": 1}", "34"),
    ] {
        let found = texts(&space(&format!("{{\"parameters\": {{\"a\": {range}}}}}"), false).unwrap());
        let ends: Vec<&str> = expected.split(' ').collect();
        assert!(
            found.len() == ends.len() && found.iter().zip(&ends).all(|(text, end)| text.ends_with(end)),
            "{range}: {found:?}"
        );
    }
    for number in ["18446744073709551616", "-9223372036854775809", "100000000000000000000000000"] {
        for text in [format!("[{{\"a\": {number}}}]"), format!("{{\"parameters\": {{\"\\\\\\\"\": {number}}}}}")] {
            let error = space(&text, false).unwrap_err();
            assert!(error.contains(&format!("the integer {number} has more than 64 bits")), "{text}: {error}");
        }
        let quoted = space(&format!("[{{\"a\": \"\\\"{number}\"}}, {{\"a\": \"{number}\"}}]"), false).unwrap();
        assert_eq!(texts(&quoted), [format!("\"{number}"), number.to_owned()]);
        assert!(space(&format!("parameters.a = [{number}]"), true).is_err());
    }
}

#[test]
fn keys_are_there_once() {
    for (text, key) in [
        ("{\"parameters\": {\"a\": [1]}, \"parameters\": {\"b\": [1]}}", "parameters"),
        ("{\"parameters\": {\"a\": [1], \"b\": [2], \"a\": [1]}}", "a"),
        ("{\"parameters\": {\"a\": [1], \"\\u0061\": [2]}}", "a"),
        ("{\"parameters\": {\"a\": {\"from\": 1, \"to\": 2, \"to\": 3}}}", "to"),
        ("{\"parameters\": {\"a\": [1]}, \"constraints\": [], \"constraints\": []}", "constraints"),
        ("{\"configurations\": [{\"x\": 1, \"y\": 2, \"y\": 3}]}", "y"),
        ("[{\"x\": 1}, {\"x\": 1, \"x\": 1}]", "x"),
    ] {
        let error = space(text, false).unwrap_err();
        assert!(error.contains(&format!("the key `{key}` is there twice")), "{text}: {error}");
    }
    assert!(space("[parameters]\na = [1]\na = [2]", true).is_err());
}

#[test]
fn what_no_parameter_can_have_is_named() {
    for (value, shown) in [
        ("nan", "nan"),
        ("-nan", "nan"),
        ("inf", "inf"),
        ("+inf", "inf"),
        ("-inf", "-inf"),
        ("2024-01-01", "the date 2024-01-01"),
        ("2024-01-01T10:00:00Z", "the date 2024-01-01T10:00:00Z"),
        ("10:00:00", "the time 10:00:00"),
        ("[1]", "a list"),
        ("{ b = 1 }", "an object"),
    ] {
        let listed = [
            format!("parameters.a = [1.0, {value}]"),
            format!("[[configurations]]\na = 1\n[[configurations]]\na = {value}"),
        ];
        let single = format!("parameters.a = {value}");
        let is_scalar = !shown.starts_with("a list") && !shown.starts_with("an object");
        for text in listed.iter().chain(Some(&single).filter(|_| is_scalar)) {
            let error = space(text, true).unwrap_err();
            assert!(error.contains(&format!("`a` has the value {shown}; ")), "{text}: {error}");
        }
        for key in ["from", "to", "step", "times"] {
            let others: Vec<String> =
                ["from", "to"].iter().filter(|other| **other != key).map(|other| format!("{other} = 1")).collect();
            let text = format!("parameters.a = {{ {key} = {value}, {} }}", others.join(", "));
            let error = space(&text, true).unwrap_err();
            assert!(
                error.contains(&format!("`{key}` of `a` is {shown}, which is not a finite number")),
                "{text}: {error}"
            );
        }
    }
}

#[test]
fn combinations_are_counted_as_far_as_they_are() {
    for (count, said) in [(24, "16777216 combinations"), (59, "576460752303423488 combinations")] {
        assert!(of_pairs(count).contains(said), "{count}: {}", of_pairs(count));
    }
    for count in [60, 63, 64, 70, 500] {
        assert!(of_pairs(count).contains("more than 1e18 combinations"), "{count}: {}", of_pairs(count));
    }
}

/// Returns the error for this many parameters with two values each.
fn of_pairs(count: usize) -> String {
    let parameters: Vec<String> = (0..count).map(|number| format!("p{number}=1,2")).collect();
    space_of_parameters(&parameters, &[]).unwrap_err().to_string()
}
