//! Tests of the language and of the built-in definitions.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::analysis::hardware::metrics::expression::Operator;
use crate::analysis::hardware::metrics::*;

fn vocabulary() -> Vocabulary {
    Vocabulary {
        constants: vec!["num_cu".to_owned(), "num_xcd".to_owned()],
        dispatch: vec!["dur_ns".to_owned()],
        formulas: BTreeMap::new(),
    }
}

fn parsed(text: &str) -> Expression {
    parse(text, &vocabulary()).unwrap()
}

/// The value for given counters, constants and properties of the dispatch.
fn value(expression: &Expression, numbers: &BTreeMap<String, f64>) -> Option<f64> {
    let put_in = &mut |part: Expression| {
        let name = match &part {
            Expression::Counter(counter) => counter.to_string(),
            Expression::Constant(name) | Expression::Dispatch(name) => name.clone(),
            _ => return Ok::<_, std::convert::Infallible>(part),
        };
        Ok(Expression::Number(numbers.get(&name).copied().unwrap_or(f64::NAN)))
    };
    let Ok(known) = expression.clone().rebuilt(put_in);
    known.value()
}

fn numbers(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

#[test]
fn formulas_mean_what_they_say() {
    let known =
        numbers(&[("A", 6.0), ("B", 3.0), ("num_cu", 2.0), ("dur_ns", 10.0), ("max_inst(A)", 5.0), ("A_ACCUM", 24.0)]);
    for (text, expected) in [
        ("1 + 2*3", Some(7.0)),
        ("(1 + 2)*3", Some(9.0)),
        ("8/4/2", Some(1.0)),
        ("8 - 4 - 2", Some(2.0)),
        ("-A + 1", Some(-5.0)),
        ("100*A/(B*num_cu)", Some(100.0)),
        ("A/(B - 3)", None),
        ("min(A, B) + max(A, B)", Some(9.0)),
        ("round(2.5) + round(3.5)", Some(6.0)),
        ("floor(-0.5)", Some(-1.0)),
        ("mod(A, 4)", Some(2.0)),
        ("if(A >= B, A, B/0)", Some(6.0)),
        ("if(A != B, 1, 2)", Some(1.0)),
        ("sum_inst(A)/max_inst(A)", Some(1.2)),
        ("sum_inst(accum_hi(A))/A", Some(4.0)),
        ("A/dur_ns", Some(0.6)),
    ] {
        assert_eq!(value(&parsed(text), &known), expected, "{text}");
    }
}

#[test]
fn what_is_no_formula_is_refused() {
    for (text, message) in [
        ("", "the end where a number, a name or a parenthesis was expected"),
        ("A +", "the end where a number, a name or a parenthesis was expected"),
        ("A B", "`B` where the end was expected"),
        ("(A", "the end where ) was expected"),
        ("1.2.3", "`1.2.3` where a number was expected"),
        ("A $ B", "`$` cannot stand in a formula"),
        (
            "num_cus",
            "`num_cus` is not a device constant, property of a dispatch or function; counters are written in upper case",
        ),
        (
            "median(A)",
            "`median` is not a device constant, property of a dispatch or function; counters are written in upper case",
        ),
        ("min(A)", "`min` takes 2 arguments and has 1"),
        ("max_inst(A + B)", "`max_inst` is over the instances of a counter and takes its name alone"),
        ("if(A, 1, 2)", "`,` where a comparison was expected"),
    ] {
        assert_eq!(parse(text, &vocabulary()).unwrap_err().to_string(), message, "{text}");
    }
    assert_eq!(parse(&"(".repeat(5_000), &vocabulary()), Err(FormulaError::Long));
    assert_eq!(parse(&"-".repeat(500), &vocabulary()), Err(FormulaError::Deep));
}

#[test]
fn sums_over_dispatches_are_weighted() {
    // Two dispatches hit 1 of 2 and 9 of 18: the ratio of the sums is 10 of 20, and that of 100 - 100*miss/all as well.
    let Ratio { numerator, denominator } = ratio(&parsed("100 - 100*MISS/(HIT + MISS)"));
    let of = |hit: f64, miss: f64| {
        let known = numbers(&[("HIT", hit), ("MISS", miss)]);
        (value(&numerator, &known).unwrap(), value(&denominator, &known).unwrap())
    };
    let (first, second) = (of(2.0, 0.0), of(8.0, 10.0));
    assert_eq!((first.0 + second.0) / (first.1 + second.1), 50.0);
}

#[test]
fn built_in_definitions_are_valid() {
    let definitions = Definitions::read().unwrap();
    assert!(definitions.metrics.len() > 400, "{}", definitions.metrics.len());
    for architecture in ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"] {
        let of_panel = |panel: i64| {
            definitions
                .metrics
                .iter()
                .filter(|metric| metric.panel == panel && metric.on(architecture).is_some())
                .count()
        };
        // The speed-of-light figures that gfx908 lacks need counters by type of instruction.
        assert!(of_panel(200) >= if architecture == "gfx908" { 20 } else { 30 }, "{architecture}: {}", of_panel(200));
        for panel in [500, 600, 700, 900, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700] {
            assert!(of_panel(panel) >= 5, "{architecture} has {} metrics of panel {panel}", of_panel(panel));
        }
    }
    for lacking in ["GPUBusy", "L2CacheHit", "MemUnitBusy", "OccupancyPercent", "VALUUtilization", "Wavefronts"] {
        for architecture in ["gfx942", "gfx950"] {
            assert!(definitions.derived(lacking, architecture).is_some(), "{lacking} on {architecture}");
        }
    }
    // gfx1250 has only definitions that name it; other chips of a family have those of the family.
    for (name, architecture, exists) in [
        ("OccupancyPercent", "gfx1201", true),
        ("OccupancyPercent", "gfx1250", false),
        ("FETCH_SIZE", "gfx1250", true),
        ("WRITE_SIZE", "gfx1250", true),
        ("WRITE_SIZE", "gfx1200", false),
        ("VALUBusy", "gfx1103", true),
        ("LDSInsts", "gfx942", false),
    ] {
        assert_eq!(definitions.derived(name, architecture).is_some(), exists, "{name} on {architecture}");
    }
    assert_eq!(bottlenecks().iter().filter(|rule| rule.evidence.is_empty()).count(), 0);
    for evidence in bottlenecks().iter().flat_map(|rule| &rule.evidence) {
        let metric = definitions.metrics.iter().find(|metric| metric.id == evidence.metric);
        assert!(metric.is_some_and(|metric| metric.on("gfx942").is_some()), "{}", evidence.metric);
    }
    assert!(bottlenecks().len() >= 8);
}

#[test]
fn counters_are_found_under_other_names() {
    let definitions = Definitions::read().unwrap();
    let constants = numbers(&[("num_xcd", 8.0), ("num_cu", 304.0)]);
    let bound = |formula: &str, recorded: &[&str]| {
        let has = |counter: &Counter| recorded.contains(&counter.to_string().as_str());
        let known = Known { definitions: &definitions, architecture: "gfx942", constants: &constants, has: &has };
        bind(&parsed(formula), None, &known).map(|bound| {
            let names =
                |part: &Expression| part.counters().iter().map(|counter| counter.to_string()).collect::<Vec<_>>();
            [names(&bound.ratio.numerator), names(&bound.ratio.denominator)].concat()
        })
    };
    assert_eq!(bound("TCC_HIT_sum", &["TCC_HIT"]).unwrap(), ["TCC_HIT"]);
    assert_eq!(bound("sum_inst(TCC_HIT)", &["TCC_HIT_sum"]).unwrap(), ["TCC_HIT_sum"]);
    assert_eq!(bound("TA_TA_BUSY_max", &["max_inst(TA_TA_BUSY)"]).unwrap(), ["max_inst(TA_TA_BUSY)"]);
    // One die counts the same as all.
    assert_eq!(bound("max_inst(GRBM_GUI_ACTIVE)", &["GRBM_GUI_ACTIVE"]).unwrap(), ["GRBM_GUI_ACTIVE"]);
    // A derived counter that was not collected is computed from those that were.
    let made = bound("FETCH_SIZE", &["TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B"]).unwrap();
    assert_eq!(made, ["TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B"]);
    // A counter that was collected with them is also computed, as the profiler may be older than this definition.
    let beside = bound("FETCH_SIZE", &["FETCH_SIZE", "TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B"]).unwrap();
    assert_eq!(beside, made);
    assert_eq!(bound("FETCH_SIZE", &["FETCH_SIZE", "TCC_EA0_RDREQ"]).unwrap(), ["FETCH_SIZE"]);
    let missing = bound("SQ_WAVES/GRBM_COUNT", &["SQ_WAVES"]).unwrap_err();
    assert_eq!(missing.reason(), "not collected: GRBM_COUNT");
}

#[test]
fn users_add_metrics_and_replace_them() {
    let builtin = Definitions::read().unwrap();
    let file = |formula: &str| {
        format!(
            "panel = 9000\ntitle = 'Mine'\nsource = 'me'\n[[metric]]\nid = 'sol.ipc'\ntitle = 'IPC'\ntable = 'T'\nunit = 'x'\n\
             [[metric.on]]\narchitectures = ['gfx942']\nformula = '{formula}'\n"
        )
    };
    let own = builtin.with_user_metrics(&file("SQ_INSTS/SQ_BUSY_CYCLES"), "mine.toml").unwrap();
    assert_eq!(own.metrics.len(), builtin.metrics.len());
    assert_eq!(own.metrics.last().unwrap().id, "sol.ipc");
    let error = builtin.with_user_metrics(&file("SQ_INSTS/"), "mine.toml").unwrap_err().to_string();
    assert!(error.starts_with("mine.toml: the formula of sol.ipc is not a formula"), "{error}");
    let error = builtin.with_user_metrics("panel = 'x'", "mine.toml").unwrap_err().to_string();
    assert!(error.starts_with("mine.toml holds no metrics"), "{error}");
}

#[test]
fn measured_roofs_are_means_over_devices() {
    let roofs = measured_roofs("device,HBMBw,HBMBwLow,mfmaf16flops\n0,4000,1,500000\n1,4200,1,\n", "r.csv").unwrap();
    let expected = [("roof.bytes_hbm", 4100.0), ("roof.mfma_flops_f16", 500_000.0)];
    assert_eq!(roofs, numbers(&expected));
    assert!(measured_roofs("a,b\n1,2\n", "r.csv").is_err());
    assert!(measured_roofs("HBMBw\n-\n", "r.csv").is_err());
}

/// Formulas over three counters, with whole numbers of one digit so that every part of a ratio is exact.
fn formula() -> impl Strategy<Value = Expression> {
    let counter = |name: &str| Expression::Counter(Counter { name: name.to_owned(), reduction: Reduction::Sum });
    let leaf = prop_oneof![
        (1..10_i32).prop_map(|number| Expression::Number(f64::from(number))),
        Just(counter("A")),
        Just(counter("B")),
        Just(counter("C")),
    ];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let operator =
            prop::sample::select(vec![Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide]);
        // Not by `Expression::binary`, which divides numbers at once and rounds.
        (operator, inner.clone(), inner)
            .prop_map(|(operator, left, right)| Expression::Binary(operator, Box::new(left), Box::new(right)))
    })
}

/// Numerator and denominator of a formula's value in lowest terms; nothing if a divisor is 0.
fn fraction(formula: &Expression, known: &BTreeMap<String, f64>) -> Option<(i128, i128)> {
    let (above, below) = match formula {
        Expression::Number(number) => (*number as i128, 1),
        Expression::Counter(counter) => (known[&counter.name] as i128, 1),
        Expression::Binary(operator, left, right) => {
            let ((a, b), (c, d)) = (fraction(left, known)?, fraction(right, known)?);
            match operator {
                Operator::Add => (a * d + c * b, b * d),
                Operator::Subtract => (a * d - c * b, b * d),
                Operator::Multiply => (a * c, b * d),
                Operator::Divide => (a * d, b * c),
            }
        }
        other => panic!("{other:?}"),
    };
    let (mut divisor, mut rest) = (above, below);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (below != 0).then(|| (above / divisor, below / divisor))
}

/// Sums over dispatches are made of numerators and denominators, so these must give the formula's value exactly.
#[test]
fn a_ratio_is_its_formula() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let (mut runner, with_value) = (TestRunner::new(config), Cell::new(0));
    let compared = |(formula, [a, b, c]): (Expression, [i32; 3])| {
        let known = numbers(&[("A", f64::from(a)), ("B", f64::from(b)), ("C", f64::from(c))]);
        if let Some((above, below)) = fraction(&formula, &known) {
            let Ratio { numerator, denominator } = ratio(&formula);
            let parts = [numerator, denominator].map(|part| value(&part, &known).unwrap() as i128);
            prop_assert!(
                parts[1] != 0 && parts[0] * below == parts[1] * above,
                "{:?} is not {}/{}",
                parts,
                above,
                below
            );
            with_value.set(with_value.get() + 1);
        }
        Ok(())
    };
    runner.run(&(formula(), [1..10_i32, 1..10, 1..10]), compared).unwrap();
    let cases = runner.config().cases;
    assert!(with_value.get() * 2 > cases, "{} of {cases} formulas have a value", with_value.get());
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[A-Z a-z0-9_.,()+*/<>=!\\[\\]-]{0,60}") {
        let _ = parse(&text, &vocabulary());
    }
}
