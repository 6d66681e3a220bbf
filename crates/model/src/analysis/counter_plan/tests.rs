//! Tests.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::counter_blocks::ArchitectureBlocks;
use super::counter_passes::{Select, lower_bound};
use super::counter_request::{RequestError, Resolved};
use super::profiler_jobs::job_command;
use super::*;
use crate::analysis::hardware::metrics::{Definitions, Normalization};

/// Every architecture whose blocks are known.
fn architectures() -> Vec<&'static str> {
    CounterBlocks::builtin().architectures().collect()
}

fn blocks(architecture: &str) -> ArchitectureBlocks {
    CounterBlocks::builtin().for_architecture(architecture, &BTreeMap::new()).unwrap()
}

fn resolve(names: &[&str], architecture: &str) -> Result<Resolved, RequestError> {
    let (definitions, blocks) = (Definitions::builtin(), blocks(architecture));
    let mut resolver = Resolver::new(&definitions, CounterBlocks::builtin(), &blocks, Normalization::Wave);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    resolver.add_all(&names)?;
    Ok(resolver.finish())
}

fn to_items(resolved: &Resolved, architecture: &str, by_name: bool) -> Vec<Item> {
    let accumulated = &Definitions::builtin().accumulated;
    items(resolved, &blocks(architecture), accumulated, Accumulations::Paired, by_name).unwrap()
}

fn passes(names: &[&str], architecture: &str) -> Vec<Vec<String>> {
    let items = to_items(&resolve(names, architecture).unwrap(), architecture, false);
    let passes = plan(&items, &blocks(architecture).limits, &[]).unwrap();
    passes.iter().map(|pass| pass.names().into_iter().map(ToOwned::to_owned).collect()).collect()
}

/// Asserts that a plan is valid. It uses names and limits only, not the planner's own functions.
fn assert_valid(passes: &[Pass], items: &[Item], limits: &BTreeMap<String, usize>) {
    let mut placed: BTreeMap<&Item, usize> = BTreeMap::new();
    for pass in passes {
        let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for item in &pass.items {
            *placed.entry(item).or_default() += 1;
            for select in &item.selects {
                used.entry(&select.block).or_default().insert(&select.counter);
            }
        }
        for (block, counters) in used {
            assert!(counters.len() <= limits[block], "{block}: {counters:?}");
        }
        let accumulated: BTreeSet<&String> = pass.items.iter().flat_map(|item| &item.accumulates).collect();
        assert!(accumulated.len() <= 1, "{accumulated:?}");
        let members: BTreeSet<_> = pass.items.iter().filter_map(|item| item.apart.as_ref()).collect();
        let groups: BTreeSet<usize> = members.iter().map(|(group, _)| *group).collect();
        assert_eq!(members.len(), groups.len());
        assert!(!pass.items.is_empty());
    }
    let asked: BTreeSet<&Item> = items.iter().collect();
    assert!(placed.values().all(|count| *count == 1));
    assert_eq!(placed.into_keys().collect::<BTreeSet<_>>(), asked);
}

#[test]
fn the_facts_are_read_and_consistent() {
    let known = architectures();
    assert!(known.contains(&"gfx942") && known.contains(&"gfx1151") && known.contains(&"gfx9"));
    let gfx942 = blocks("gfx942");
    assert_eq!((gfx942.limits["SQ"], gfx942.limits["TA"], gfx942.limits["GRBM"]), (8, 2, 2));
    assert_eq!(gfx942.limits["RMI"], 4, "from the list of gfx9");
    assert_eq!(gfx942.block_of("SQC_ICACHE_REQ").unwrap(), "SQ");
    assert_eq!(gfx942.block_of("TCP_TCC_READ_REQ").unwrap(), "TCP");
    assert_eq!(gfx942.block_of("PA_SC_X").unwrap(), "PA_SC");
    let missing = blocks("gfx1151").block_of("TCC_HIT").unwrap_err().to_string();
    assert!(missing.contains("gfx1151 does not have") && missing.contains("GL2C"), "{missing}");
}

#[test]
fn every_counter_of_every_formula_has_a_block() {
    let definitions = Definitions::builtin();
    for architecture in ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"] {
        for metric in &definitions.metrics {
            if metric.on(architecture).is_none() {
                continue;
            }
            let name = if metric.id.starts_with("derived.") { metric.title.clone() } else { metric.id.clone() };
            match resolve(&[&name], architecture) {
                // The source has sums of counters that gfx908 does not have.
                Err(RequestError::Renamed { .. }) if architecture == "gfx908" && name.starts_with("TCC_EA0_") => {}
                resolved => drop(resolved.unwrap_or_else(|error| panic!("{name} on {architecture}: {error}"))),
            }
        }
    }
}

#[test]
fn derived_counters_and_metrics_become_counters_of_the_hardware() {
    let needs = |name: &str, architecture: &str| -> Vec<String> {
        resolve(&[name], architecture).unwrap().needs.counters.into_iter().collect()
    };
    assert_eq!(needs("L2CacheHit", "gfx90a"), ["TCC_HIT", "TCC_MISS"]);
    assert_eq!(needs("sol.l2_cache_hit_rate", "gfx942"), ["TCC_HIT", "TCC_MISS"]);
    assert_eq!(needs("OccupancyPercent", "gfx942"), ["GRBM_GUI_ACTIVE", "SQ_WAVE_CYCLES"]);
    assert_eq!(needs("TCC_HIT_sum", "gfx942"), needs("TCC_HIT[3]", "gfx942"));
    assert_eq!(needs("FetchSize", "gfx90a"), ["TCC_EA_RDREQ", "TCC_EA_RDREQ_32B"]);
    let several = resolve(&["TCC_HIT_sum", "TCC_HIT_max", "TCC_HIT[0]", "L2CacheHit"], "gfx90a").unwrap();
    assert_eq!(several.needs.counters.len(), 2);
    let level = resolve(&["sol.wavefront_occupancy"], "gfx942").unwrap();
    assert!(level.needs.accumulated.contains("SQ_LEVEL_WAVES"), "{level:?}");
    // Counters of denominators are collected with the values.
    let counts = resolve(&["instruction_mix"], "gfx942").unwrap();
    assert!(counts.needs.counters.contains("SQ_WAVES"));
}

#[test]
fn what_an_architecture_lacks_is_refused_with_what_it_has() {
    let refused = |name: &str, architecture: &str| resolve(&[name], architecture).unwrap_err().to_string();
    assert_eq!(refused("TCC_EA_RDREQ", "gfx942"), "gfx942 has no TCC_EA_RDREQ; it is TCC_EA0_RDREQ on it");
    assert_eq!(refused("TCC_EA0_RDREQ", "gfx908"), "gfx908 has no TCC_EA0_RDREQ; it is TCC_EA_RDREQ on it");
    let missing = refused("roofline", "gfx908");
    assert!(missing.starts_with("roofline is not defined on gfx908, only on gfx90a"), "{missing}");
    let slip = refused("OcupancyPercent", "gfx942");
    assert!(slip.contains("did you mean OccupancyPercent"), "{slip}");
    let no_block = refused("XYZ_THINGS", "gfx942");
    assert!(no_block.contains("XYZ_THINGS") && no_block.contains("--block-limit XYZ=N"), "{no_block}");
    let alone = refused("SQ_ACCUM_PREV_HIRES", "gfx942");
    assert!(alone.contains("SQ_LEVEL_WAVES_ACCUM"), "{alone}");
    assert!(refused("SQ_WAVES_ACCUM", "gfx942").contains("cannot be accumulated"));
    let unknown = CounterBlocks::builtin().for_architecture("gfx777", &BTreeMap::new()).unwrap_err().to_string();
    assert!(unknown.contains("gfx777") && unknown.contains("gfx942"), "{unknown}");
    let doubtful = resolve(&["SQ_WAVEZ"], "gfx942").unwrap();
    assert!(doubtful.notes.iter().any(|note| note.contains("did you mean SQ_WAVES")), "{:?}", doubtful.notes);
}

#[test]
fn fetched_and_written_bytes_are_never_of_one_pass() {
    for architecture in ["gfx90a", "gfx942", "gfx950"] {
        let planned = passes(&["FETCH_SIZE", "WriteSize", "SQ_WAVES"], architecture);
        assert_eq!(planned.len(), 2, "{planned:?}");
        for pass in &planned {
            let reads = pass.iter().any(|name| name.contains("RDREQ"));
            let writes = pass.iter().any(|name| name.contains("WRREQ"));
            assert!(reads != writes, "{planned:?}");
        }
        let by_name = to_items(&resolve(&["FETCH_SIZE", "WRITE_SIZE"], architecture).unwrap(), architecture, true);
        let planned = plan(&by_name, &blocks(architecture).limits, &[]).unwrap();
        assert_eq!(planned.iter().map(Pass::names).collect::<Vec<_>>(), [["FETCH_SIZE"], ["WRITE_SIZE"]]);
    }
}

#[test]
fn an_accumulator_stands_right_after_its_counter_and_alone_in_its_pass() {
    let asked = ["SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES", "SQ_IFETCH_LEVEL_ACCUM", "SQ_WAVES", "GRBM_COUNT"];
    let planned = passes(&asked, "gfx942");
    assert_eq!(planned.len(), 2, "{planned:?}");
    for pass in &planned {
        let accumulators: Vec<usize> =
            pass.iter().enumerate().filter(|(_, name)| *name == "SQ_ACCUM_PREV_HIRES").map(|(at, _)| at).collect();
        assert_eq!(accumulators.len(), 1, "{planned:?}");
        assert!(pass[accumulators[0] - 1].contains("LEVEL"), "{planned:?}");
    }
    let many: Vec<String> = (0..14).map(|number| format!("SQ_X{number}")).collect();
    let mut names: Vec<&str> = many.iter().map(String::as_str).collect();
    names.push("SQ_LEVEL_WAVES_ACCUM");
    // An accumulation takes two places: 14 and it fill two passes of 8.
    assert_eq!(passes(&names, "gfx942").iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
    names.push("SQ_X14");
    assert_eq!(passes(&names, "gfx942").len(), 3);
}

#[test]
fn counters_of_a_metric_share_a_pass_where_there_is_room() {
    let resolved = resolve(&["speed_of_light", "l2_cache"], "gfx942").unwrap();
    let items = to_items(&resolved, "gfx942", false);
    let limits = blocks("gfx942").limits;
    let together: Vec<BTreeSet<String>> = resolved.of.values().map(Needs::all).collect();
    let share = |passes: &[Pass]| {
        let holds = |set: &BTreeSet<String>| {
            passes.iter().any(|pass| set.iter().all(|counter| pass.names().contains(&counter.as_str())))
        };
        together.iter().filter(|set| holds(set)).count()
    };
    let (with, without) = (plan(&items, &limits, &together).unwrap(), plan(&items, &limits, &[]).unwrap());
    assert_eq!(with.len(), without.len());
    assert!(share(&with) > share(&without), "{} of {}, {}", share(&with), together.len(), share(&without));
}

#[test]
fn every_panel_of_every_architecture_has_a_valid_plan_of_the_fewest_passes() {
    let definitions = Definitions::builtin();
    for architecture in ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"] {
        for panel in definitions.panel_names() {
            let Ok(resolved) = resolve(&[panel], architecture) else { continue };
            let limits = blocks(architecture).limits;
            for by_name in [false, true] {
                let items = to_items(&resolved, architecture, by_name);
                let planned = plan(&items, &limits, &[]).unwrap();
                assert_valid(&planned, &items, &limits);
                if !by_name && panel != "derived_counters" {
                    assert_eq!(planned.len(), lower_bound(&items, &limits), "{panel} on {architecture}");
                }
            }
        }
    }
}

#[test]
fn what_is_too_large_for_a_pass_is_named() {
    let narrow = BTreeMap::from([("SQ".to_owned(), 1)]);
    let blocks = CounterBlocks::builtin().for_architecture("gfx942", &narrow).unwrap();
    let resolved = resolve(&["SQ_LEVEL_WAVES_ACCUM"], "gfx942").unwrap();
    let accumulated = &Definitions::builtin().accumulated;
    let items = items(&resolved, &blocks, accumulated, Accumulations::Paired, false).unwrap();
    let error = plan(&items, &blocks.limits, &[]).unwrap_err().to_string();
    assert!(error.contains("SQ_LEVEL_WAVES and SQ_ACCUM_PREV_HIRES need 2 counters of the block SQ"), "{error}");
}

/// Counters that all these architectures have, including accumulations, derived counters, duplicates and suffixes.
fn requests() -> impl Strategy<Value = Vec<String>> {
    let panels =
        ["speed_of_light", "command_processor", "workgroup_manager", "address_and_data", "l2_cache", "vector_cache"];
    let known = resolve(&panels, "gfx942").unwrap().needs.counters;
    let known: Vec<String> = known.into_iter().filter(|name| !name.contains("EA")).collect();
    let raw = (prop::sample::select(known), prop::sample::select(vec!["", "_sum", "_max", "[3]"]))
        .prop_map(|(counter, suffix)| format!("{counter}{suffix}"));
    let other = prop::sample::select(vec![
        "SQ_LEVEL_WAVES_ACCUM",
        "SQ_IFETCH_LEVEL_ACCUM",
        "SQ_INST_LEVEL_LDS_ACCUM",
        "SQ_LEVEL_WAVES",
        "FETCH_SIZE",
        "WRITE_SIZE",
        "OccupancyPercent",
        "VALUBusy",
        "sol.l2_cache_hit_rate",
        "roof.bytes_hbm",
        "MeanOccupancyPerCU",
    ])
    .prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![6 => raw, 1 => other], 1..120)
}

proptest! {
    #[test]
    fn no_plan_exceeds_a_limit_and_every_counter_is_in_exactly_one_pass(
        names in requests(), at in 0..64_usize, by_name: bool,
    ) {
        let architecture = ["gfx908", "gfx90a", "gfx942", "gfx950"][at % 4];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let resolved = resolve(&names, architecture);
        // The roofline and some derived counters do not exist on gfx908.
        let is_elsewhere = matches!(resolved, Err(RequestError::NotHere { .. })) && architecture == "gfx908";
        prop_assert!(resolved.is_ok() || is_elsewhere, "{:?}", resolved.err());
        let Ok(resolved) = resolved else { return Ok(()) };
        let items = to_items(&resolved, architecture, by_name);
        let limits = blocks(architecture).limits;
        let planned = plan(&items, &limits, &[]).unwrap();
        assert_valid(&planned, &items, &limits);
        if !by_name {
            let mut counters: Vec<&str> = planned.iter().flat_map(Pass::names).collect();
            counters.retain(|name| *name != "SQ_ACCUM_PREV_HIRES");
            counters.sort_unstable();
            let mut wanted: Vec<&str> = resolved.needs.counters.union(&resolved.needs.accumulated).map(String::as_str).collect();
            wanted.sort_unstable();
            prop_assert_eq!(counters, wanted);
        }
    }

    #[test]
    fn the_order_of_the_request_does_not_change_the_plan(names in requests(), seed: u64) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut shuffled = names.clone();
        let mut state = seed;
        for at in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(at, (state >> 33) as usize % (at + 1));
        }
        prop_assert_eq!(passes(&names, "gfx942"), passes(&shuffled, "gfx942"));
        let (limits, resolved) = (blocks("gfx942").limits, resolve(&names, "gfx942").unwrap());
        let items = to_items(&resolved, "gfx942", true);
        let sets: Vec<BTreeSet<String>> = resolved.of.values().map(Needs::all).collect();
        let (items_back, sets_back) = (items.iter().rev().cloned().collect::<Vec<_>>(), sets.iter().rev().cloned().collect::<Vec<_>>());
        prop_assert_eq!(plan(&items, &limits, &sets).unwrap(), plan(&items_back, &limits, &sets_back).unwrap());
    }

    #[test]
    fn free_counters_and_accumulations_need_no_more_passes_than_the_bound(
        counts in prop::collection::vec((0..10_usize, 0..40_usize), 1..60), limits in prop::collection::vec(2..9_usize, 10),
        levels in 0..6_usize, sets in prop::collection::vec(prop::collection::vec(0..60_usize, 1..9), 0..20),
    ) {
        let limits: BTreeMap<String, usize> = limits.iter().enumerate().map(|(at, limit)| (format!("B{at}"), *limit)).collect();
        let mut items: Vec<Item> =
            counts.iter().map(|(block, number)| Item::single(&format!("B{block}"), &format!("B{block}_{number}"))).collect();
        for level in 0..levels {
            let select = |counter: String| Select { block: "B0".to_owned(), counter };
            let name = format!("B0_LEVEL{level}");
            items.push(Item {
                names: vec![name.clone(), "ACCUM".to_owned()],
                selects: BTreeSet::from([select(name.clone()), select(format!("{name} accumulated"))]),
                accumulates: BTreeSet::from([name.clone()]),
                levels: BTreeSet::from([name]),
                apart: None,
            });
        }
        let sets: Vec<BTreeSet<String>> = sets
            .iter()
            .map(|set| set.iter().filter_map(|at| items.get(*at)?.names.first().cloned()).collect())
            .collect();
        let planned = plan(&items, &limits, &sets).unwrap();
        assert_valid(&planned, &items, &limits);
        prop_assert_eq!(planned.len(), lower_bound(&items, &limits));
    }

    #[test]
    fn a_quoted_command_is_read_back_word_for_word(given in prop::collection::vec(".*", 0..6)) {
        let line = given.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        prop_assert_eq!(words(&line), Some(given));
    }

    #[test]
    fn no_words_make_the_check_panic(given in prop::collection::vec("(--|-|=|[a-z]|pmc|att|,){0,6}", 0..9)) {
        let mut command = vec!["rocprofv3".to_owned()];
        command.extend(given);
        check(&command);
    }
}

#[test]
fn commands_are_checked_against_what_the_profiler_takes() {
    let problems =
        |line: &str| -> Vec<String> { check(&words(line).unwrap()).iter().map(ToString::to_string).collect() };
    for line in [
        "rocprofv3 --sys-trace --pmc SQ_WAVES GRBM_COUNT -d out -o name -- ./app --flag",
        "/opt/rocm/bin/rocprofv3 --kernel-trace=true -f csv json --stats -- ./app",
        "A=1 rocprofv3 -r --pmc SQ_WAVES --pmc TCC_HIT TCC_MISS -- 'a program'",
        "rocprofv3 --pc-sampling-beta-enabled --pc-sampling-unit cycles --pc-sampling-method stochastic \
         --pc-sampling-interval 1048576 -- ./app",
        "rocprofv3 --att --att-target-cu 1 --kernel-include-regex 'gemm|conv' -- ./app",
        "rocprofv3 --list-avail",
    ] {
        assert_eq!(problems(line), [""; 0], "{line}");
    }
    for (line, part) in [
        ("rocprof --stats -- ./app", "rocprof is not a known profiler"),
        ("rocprofv3 --hip-api-trace -- ./app", "has no flag --hip-api-trace"),
        ("rocprofv3 --kernel-names x -- ./app", "has no flag --kernel-names"),
        ("rocprofv3 --pc-sampling -- ./app", "has no flag --pc-sampling"),
        ("rocprofv3 --output-director out -- ./app", "did you mean --output-directory"),
        ("rocprofv3 -d -- ./app", "-d needs a value"),
        ("rocprofv3 --output-format xlsx -- ./app", "--output-format does not take xlsx"),
        ("rocprofv3 --stats maybe -- ./app", "--stats does not take maybe"),
        ("rocprofv3 --pc-sampling-interval often -- ./app", "only a whole number"),
        ("rocprofv3 -d out stray -- ./app", "stray belongs to no flag"),
        ("rocprofv3 -d out -d other -- ./app", "--output-directory stands twice"),
        ("rocprofv3 --stats", "no program follows --"),
        ("rocprofv3 --stats --", "no program follows --"),
        ("rocprofv3 --att --pmc SQ_WAVES -- ./app", "--pmc and --att do not go together"),
        ("rocprofv3 --pmc SQ_WAVES --pc-sampling-unit time -- ./app", "--pmc and --pc-sampling-unit do not go"),
        ("rocprofv3 --pc-sampling-unit time -- ./app", "--pc-sampling-unit needs --pc-sampling-beta-enabled"),
        ("rocprofv3 --pmc A --att-activity 8 -- ./app", "--pmc and --att-activity do not go together"),
    ] {
        let found = problems(line);
        assert!(found.iter().any(|problem| problem.contains(part)), "{line}: {found:?}");
    }
}

#[test]
fn flags_turn_on_what_their_release_has() {
    let implied = |version: &str, by: &str| {
        let all = crate::analysis::counter_plan::implied_flags(Some(version.parse().unwrap()));
        all.get(by).map(|implied| implied.flags.clone()).unwrap_or_default()
    };
    for by in ["--sys-trace", "--runtime-trace"] {
        for (flag, since) in [
            ("--kfd-trace", "7.13"),
            ("--rocshmem-trace", "7.13"),
            ("--ompt-trace", "10.0"),
            ("--hipfile-trace", "10.0"),
        ] {
            assert!(implied(since, by).contains(&flag) && !implied("7.2", by).contains(&flag), "{by} {flag}");
        }
    }
    assert_eq!(implied("10.1", "--hip-runtime-trace"), ["--hip-graph-trace", "--hip-event-trace"]);
    assert_eq!(implied("7.13", "--hip-runtime-trace"), ["--hip-graph-trace"]);
}

#[test]
fn every_command_of_a_plan_is_one_that_the_profiler_takes() {
    let definitions = Definitions::builtin();
    for architecture in ["gfx90a", "gfx942", "gfx950"] {
        for panel in definitions.panel_names() {
            let Ok(resolved) = resolve(&[panel], architecture) else { continue };
            let blocks = blocks(architecture);
            for style in [Accumulations::Defined, Accumulations::Paired] {
                let items = items(&resolved, &blocks, &definitions.accumulated, style, false).unwrap();
                let passes = plan(&items, &blocks.limits, &[]).unwrap();
                let defined = accumulation_definitions(&passes, architecture);
                assert_eq!(
                    defined.is_some(),
                    style == Accumulations::Defined && !resolved.needs.accumulated.is_empty(),
                    "{panel}"
                );
                let collection = Collection {
                    directory: "out of it/".to_owned(),
                    definitions: defined.map(|_| "some file.yaml".to_owned()),
                    program: vec!["./app".to_owned(), "it's".to_owned(), "--pmc".to_owned()],
                };
                assert_eq!(check(&job_command(&collection)), []);
                for (at, pass) in passes.iter().enumerate() {
                    let command = pass_command(pass, at + 1, &collection);
                    let line = command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
                    assert_eq!(words(&line).as_ref(), Some(&command));
                    assert_eq!(check(&command), []);
                }
            }
        }
    }
}
