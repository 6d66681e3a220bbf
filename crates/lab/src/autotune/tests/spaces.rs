use crate::autotune::space_file::{SpaceError, space_of_parameters, space_of_text};
use crate::autotune::template::Template;
use crate::autotune::{AutotuneError, Space};

pub(super) fn space(text: &str, is_toml: bool) -> Result<Space, String> {
    space_of_text(text, is_toml).map_err(|error| match error {
        SpaceError::Reason(reason) => reason,
        SpaceError::Constraint(error) => error.to_string(),
    })
}

pub(super) fn shown(space: &Space) -> Vec<String> {
    let line = |configuration| {
        let values: Vec<String> = space.values(configuration).map(|(name, value)| format!("{name}={value}")).collect();
        values.join(" ")
    };
    (0..space.len()).map(line).collect()
}

#[test]
fn lists_and_products_are_spaces() {
    let listed = r#"[{"BLOCK_M": 64, "BLOCK_N": 32}, {"BLOCK_N": 64, "BLOCK_M": 64}, {"BLOCK_M": 64, "BLOCK_N": 32}]"#;
    let found = space(listed, false).unwrap();
    assert_eq!(shown(&found), ["BLOCK_M=64 BLOCK_N=32", "BLOCK_M=64 BLOCK_N=64"]);
    assert_eq!(found.duplicates, 1);
    let product = r#"
        constraints = ["m * n <= 32 and not (layout == 'row' and fast)", "m >= n || layout != \"row\""]
        [parameters]
        n = { from = 4, to = 8, times = 2 }
        m = [8, 4]
        layout = ["row", "column"]
        fast = [true, false]
    "#;
    let expected = [
        "fast=true layout=column m=8 n=4",
        "fast=true layout=column m=4 n=4",
        "fast=true layout=column m=4 n=8",
        "fast=false layout=row m=8 n=4",
        "fast=false layout=row m=4 n=4",
        "fast=false layout=column m=8 n=4",
        "fast=false layout=column m=4 n=4",
        "fast=false layout=column m=4 n=8",
    ];
    assert_eq!(shown(&space(product, true).unwrap()), expected);
    let steps =
        space(r#"{"parameters": {"x": {"from": 0, "to": 0.3, "step": 0.1}, "y": {"from": 1, "to": 2}}}"#, false);
    let steps = shown(&steps.unwrap());
    assert_eq!((steps.len(), steps[6].as_str(), steps[1].as_str()), (8, "x=0.3 y=1", "x=0 y=2"));
    let given = ["b=1,2".to_owned(), "a=x,y".to_owned()];
    let given = space_of_parameters(&given, &["b == 1 or a == 'x'".to_owned()]).unwrap();
    assert_eq!(shown(&given), ["a=x b=1", "a=x b=2", "a=y b=1"]);
}

#[test]
fn what_is_no_space_is_refused() {
    for (text, said) in [
        ("[]", "no parameters"),
        ("[{}]", "no parameters"),
        ("[1]", "configuration 1 is not an object"),
        ("3", "neither a list nor an object"),
        ("{\"a\": [1]}", "`a` is not known"),
        ("{}", "no `parameters`"),
        ("[{\"a\": 1}, {\"b\": 1}]", "configuration 2 has no `a`"),
        ("[{\"a\": 1}, {\"a\": 1, \"b\": 1}]", "configuration 2 has `b`"),
        ("[{\"a\": null}]", "`a` has the value null"),
        ("[{\"a b\": 1}]", "`a b` is not a name"),
        ("{\"parameters\": {\"a\": []}}", "`a` has no values"),
        ("{\"parameters\": {\"a\": {\"from\": 1}}}", "needs from and to"),
        ("{\"parameters\": {\"a\": {\"from\": 3, \"to\": 1}}}", "ends at 1, before 3"),
        ("{\"parameters\": {\"a\": {\"from\": 0, \"to\": 8, \"times\": 2}}}", "above 0"),
        ("{\"parameters\": {\"a\": {\"from\": 0, \"to\": 8, \"step\": 0}}}", "above 0"),
        ("{\"parameters\": {\"a\": {\"from\": 0, \"to\": 1e9}}}", "more than 10000 values"),
        (
            "{\"parameters\": {\"a\": {\"from\": 1, \"to\": 9000}, \"b\": {\"from\": 1, \"to\": 9000}}}",
            "81000000 combinations",
        ),
        ("{\"parameters\": {\"a\": [1]}, \"constraints\": [\"a > 1\"]}", "no configuration"),
        ("{\"parameters\": {\"a\": [1]}, \"constraints\": [\"c > 1\"]}", "`c` is not a parameter; choose from a"),
        ("{\"parameters\": {\"a\": [1]}, \"constraints\": [\"a + 1\"]}", "neither true nor false"),
        ("{\"parameters\": {\"a\": [\"x\"]}, \"constraints\": [\"a * 2 > 1\"]}", "`x` is not a number"),
        ("{\"parameters\": {\"a\": [0]}, \"constraints\": [\"1 / a > 1\"]}", "divided by zero"),
        ("{\"parameters\": {\"a\": [0]}, \"constraints\": [\"(a > 1\"]}", "`)` is missing"),
        ("{\"parameters\": {\"a\": [0]}, \"constraints\": [\"a > 1 2\"]}", "`2` is not expected"),
        ("{\"parameters\": {\"a\": [0]}, \"constraints\": [\"a >\"]}", "ends too early"),
        ("{\"parameters\": {\"a\": [0]}, \"constraints\": [\"a ? 1\"]}", "`?` is not known"),
        ("{\"parameters\": {\"a\": [0]}, \"constraints\": 3}", "not a list of texts"),
    ] {
        let error = space(text, false).map(|space| shown(&space)).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    assert!(space("[[", true).is_err());
    assert!(space("parameters.a = [nan]", true).unwrap_err().contains("finite"));
    let deep = format!("{{\"parameters\": {{\"a\": [1]}}, \"constraints\": [\"{}a > 0\"]}}", "(".repeat(500));
    assert!(space(&deep, false).unwrap_err().contains("nested too deep"));
    let long = format!("{{\"parameters\": {{\"a\": [1]}}, \"constraints\": [\"{}a > 0\"]}}", "a + ".repeat(100_000));
    assert!(space(&long, false).unwrap_err().contains("more than 1000 words"));
    assert!(space_of_parameters(&["a".to_owned()], &[]).is_err());
}

#[test]
fn commands_have_the_values_in_their_words() {
    let space = space(r#"[{"M": 64, "way": "a b; rm {M}"}]"#, false).unwrap();
    let template =
        |text: &[&str]| Template::new(&text.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &space);
    let words = template(&["./gemm{way}", "--m={M}", "x{M}{M}", "{{M}}", "{\"a\":{}}", "{", "}{M}{"]).unwrap();
    let expected = ["./gemma b; rm {M}", "--m=64", "x6464", "{M}", "{\"a\":{}}", "{", "}64{"];
    assert_eq!(words.words(&space, 0), expected);
    assert!(!words.has_fixed_program() && template(&["a", "{M}{way}"]).unwrap().has_fixed_program());
    assert!(matches!(template(&["a", "{M}"]), Err(AutotuneError::UnusedParameter { name }) if name == "way"));
    let unknown = template(&["a", "{M}", "{way}", "{N}"]).unwrap_err().to_string();
    assert_eq!(unknown, "the command names `{N}`, which is not a parameter of the space; choose from M, way");
    assert!(matches!(template(&[]), Err(AutotuneError::EmptyCommand)));
}
