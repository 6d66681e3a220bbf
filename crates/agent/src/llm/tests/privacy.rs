//! At the level of figures, planted texts are never sent, with any provider and in any attempt.

use std::cell::RefCell;

use polars::prelude::{Column, DataType};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::server::{Answer, Server};
use crate::llm::environment::Variables;
use crate::llm::error::LlmError;
use crate::llm::narrative::{Narrator, Outcome};
use crate::llm::payload::Share;
use crate::llm::settings::LlmOptions;
use wavesieve_engine::Registry;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_report::document::{Block, Document, Note};

pub(super) fn analysis(fixture: &str) -> Analysis {
    let trace = wavesieve_input::open([format!("../../fixtures/{fixture}")]).unwrap();
    AnalysisOptions::builtin().unwrap().analyze(&trace).unwrap()
}

/// Puts a secret into every foreign text of a document.
pub(super) fn plant(document: &mut Document, secret: &str) {
    document.title = format!("run of {secret}");
    document.summary = format!("first: {secret}_kernel");
    document.notes.push(Note { is_warning: true, text: format!("/scratch/{secret}/x is damaged") });
    for input in &mut document.provenance.inputs {
        input.path = format!("/lustre/{secret}/my runs/{secret}.db");
        input.hostname = Some(format!("{secret}.cluster.example.org"));
        input.gpus.push(format!("gfx {secret}"));
    }
    document.provenance.damage.push(format!("/data/{secret}.db: cut"));
    document.provenance.filters.push(("--kernel".to_owned(), secret.to_owned()));
    let texts = |frame: &mut polars::prelude::DataFrame| {
        let names: Vec<String> = frame
            .columns()
            .iter()
            .filter(|column| column.dtype() == &DataType::String)
            .map(|column| column.name().to_string())
            .collect();
        for name in names {
            let values: Vec<String> =
                (0..frame.height()).map(|row| format!("void {secret}::k{row}<{secret}>(int)")).collect();
            frame.with_column(Column::new(name.as_str().into(), values)).unwrap();
        }
    };
    for finding in &mut document.findings {
        finding.id = format!("{}:{secret}_kernel", finding.rule);
        finding.subject = Some(format!("{secret}_kernel"));
        finding.title = format!("Hotspot: `{secret}_kernel`");
        finding.explanation = format!("{secret} in /home/{secret}");
        finding.advice.push(format!("look at {secret}"));
        finding.evidence.iter_mut().for_each(|evidence| texts(&mut evidence.frame));
    }
    for block in document.sections.iter_mut().flat_map(|section| &mut section.blocks) {
        match block {
            Block::Table(table) => texts(&mut table.frame),
            Block::Note(note) => note.text = format!("{secret} is odd"),
            Block::Chart(drawn) => drawn.chart.title = secret.to_owned(),
        }
    }
}

fn prompt(secret: &str) -> String {
    format!(
        "Why is {secret}_kernel slow on {secret}? I am {secret}@example.org, run ./{secret}/a.out --token={secret} in /p/{secret} and \
         https://git.example.com/{secret}; see src/{secret}.hip:12, password: {secret}"
    )
}

pub(super) fn answers(provider: &str) -> Vec<Answer> {
    let good = match provider {
        "anthropic" | "claude-code" => json!({"content": [{"type": "text", "text": "Fine."}]}),
        _ => json!({"choices": [{"message": {"content": "Fine."}, "finish_reason": "stop"}]}),
    };
    vec![Answer::status(503, "{}").with("retry-after", "0"), Answer::json(&good)]
}

pub(super) fn variables(secret: &str) -> Variables {
    Variables::of_pairs(&[
        ("ANTHROPIC_API_KEY", "sk-ant-x"),
        ("OPENAI_API_KEY", "sk-x"),
        ("WAVESIEVE_LLM_PRIVATE_MODEL", "big"),
        ("USER", secret),
        ("HOSTNAME", secret),
    ])
}

pub(super) fn narrate(analysis: &Analysis, options: LlmOptions, variables: Variables) -> Result<Outcome, LlmError> {
    let registry = Registry::builtin().unwrap();
    Narrator::new(options, variables)?.narrate(analysis, &registry, &|_| None, &())
}

pub(super) fn options(provider: &str, server: &Server) -> LlmOptions {
    LlmOptions {
        providers: vec![provider.to_owned()],
        url: Some(server.url.clone()),
        is_whole: true,
        ..LlmOptions::default()
    }
}

#[test]
fn planted_secrets_do_not_leave_at_the_level_of_figures() {
    let analysis = RefCell::new(analysis("planted"));
    let original = analysis.borrow().document.clone();
    let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
    proptest!(config, |(secret in "Zq[a-zA-Z0-9]{6,12}")| {
        let mut analysis = analysis.borrow_mut();
        analysis.document = original.clone();
        plant(&mut analysis.document, &secret);
        analysis.prompt = Some(prompt(&secret));
        analysis.collected.program = vec![format!("/opt/{secret}/app"), format!("--key={secret}"), secret.clone()];
        for provider in ["anthropic", "openai", "private", "local"] {
            let server = Server::new(answers(provider));
            let directory = tempfile::tempdir().unwrap();
            let audit = directory.path().join("audit");
            let options = LlmOptions { audit: Some(audit.clone()), ..options(provider, &server) };
            narrate(&analysis, options, variables(&secret)).unwrap();
            let got = server.got();
            prop_assert_eq!(got.len(), 2);
            for request in &got {
                let text = request.bytes();
                let place = text.find(&secret);
                prop_assert!(place.is_none(), "{}: …{:?}", provider, place.and_then(|place| text.get(place.saturating_sub(60)..)));
                prop_assert!(text.contains("busy_pct") && text.contains("[KERNEL_1]"));
            }
            // The record has both requests, without keys.
            let record = std::fs::read_to_string(&audit).unwrap();
            let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            prop_assert_eq!(lines.len(), 2);
            prop_assert_eq!(lines[0]["body"].as_str().unwrap().as_bytes(), got[0].body.as_slice());
            prop_assert!(!record.contains("sk-x") && !record.contains("sk-ant-x"));
        }
    });
}

#[test]
fn levels_add_names_and_nothing_else() {
    let mut analysis = analysis("two_nodes");
    analysis.prompt = None;
    let sent = |share: Share| {
        let server = Server::new(answers("private"));
        narrate(&analysis, LlmOptions { share, ..options("private", &server) }, variables("somebody")).unwrap();
        String::from_utf8(server.got()[1].body.clone()).unwrap()
    };
    let (figures, names) = (sent(Share::Figures), sent(Share::Names));
    let kernel = analysis
        .document
        .sections
        .iter()
        .flat_map(|section| &section.blocks)
        .find_map(|block| match block {
            Block::Table(table) => {
                table.frame.column("kernel_name").ok()?.get(0).ok()?.get_str().map(ToOwned::to_owned)
            }
            _ => None,
        })
        .unwrap();
    let shown = wavesieve_engine::findings::shortened(&kernel, 160);
    let encoded = serde_json::to_string(&json!(serde_json::to_string(&shown).unwrap())).unwrap();
    let encoded = encoded.trim_matches('"').trim_matches('\\').trim_matches('"').trim_end_matches('\\');
    assert!(!figures.contains(encoded), "{encoded}");
    assert!(names.contains(encoded), "{encoded}\n{names}");
    for input in &analysis.document.provenance.inputs {
        for text in [Some(&input.path), input.hostname.as_ref()].into_iter().flatten() {
            assert!(!figures.contains(text.as_str()) && !names.contains(text.as_str()), "{text}");
        }
    }
    assert!(figures.len() < names.len());
    // The same again: the result depends neither on order nor on chance.
    assert_eq!(sent(Share::Figures), figures);
}

/// Questions are masked word by word, including earlier ones of a conversation.
#[test]
fn words_of_questions_do_not_leave_at_the_level_of_figures() {
    let mut analysis = analysis("merged");
    for (share, is_sent) in [(Share::Figures, false), (Share::Names, true)] {
        let directory = tempfile::tempdir().unwrap();
        let server = Server::new([answers("private"), answers("private")].concat());
        for prompt in ["Why does zebrafish wait for the kernels?", "and then?"] {
            analysis.prompt = Some(prompt.to_owned());
            let conversation = Some(directory.path().join("talk.json"));
            let options = LlmOptions { share, conversation, ..options("private", &server) };
            narrate(&analysis, options, variables("somebody")).unwrap();
        }
        for got in server.got() {
            let body = String::from_utf8(got.body.clone()).unwrap();
            assert_eq!(body.contains("zebrafish"), is_sent, "{body}");
            assert_eq!(body.contains("Why does [TEXT_"), !is_sent, "{body}");
        }
    }
}

#[test]
fn a_dry_run_shows_the_bytes_and_sends_none() {
    let analysis = analysis("merged");
    let server = Server::new(answers("openai"));
    let dry = LlmOptions { is_dry: true, ..options("openai", &server) };
    let Outcome::Shown(shown) = narrate(&analysis, dry, variables("somebody")).unwrap() else {
        panic!("nothing shown")
    };
    assert!(server.got().is_empty());
    narrate(&analysis, options("openai", &server), variables("somebody")).unwrap();
    let body = String::from_utf8(server.got()[0].body.clone()).unwrap();
    let (head, shown) = shown.split_once("\n\n").unwrap();
    assert_eq!(shown.trim_end(), body);
    assert!(head.starts_with("POST http://127.0.0.1:") && head.contains("Bearer <OPENAI_API_KEY>"), "{head}");
}

#[test]
fn nothing_is_sent_offline_or_without_a_record() {
    let analysis = analysis("merged");
    let server = Server::new(answers("local"));
    let offline = Variables::of_pairs(&[("WAVESIEVE_OFFLINE", "1")]);
    for provider in ["local", "claude-code"] {
        let error = narrate(&analysis, options(provider, &server), offline.clone()).err().unwrap();
        assert!(matches!(error, LlmError::Offline { .. }) && !error.reaches_user(), "{error}");
    }
    let audit = Some("/dev/null/none/audit".into());
    let error = narrate(&analysis, LlmOptions { audit, ..options("local", &server) }, variables("x")).err().unwrap();
    assert!(matches!(error, LlmError::Audit { .. }) && error.reaches_user(), "{error}");
    assert!(server.got().is_empty());
}

#[test]
fn rules_of_the_user_count_too() {
    let mut analysis = analysis("merged");
    analysis.prompt = Some("What about Project Falcon?".to_owned());
    let directory = tempfile::tempdir().unwrap();
    let redact = directory.path().join("rules.toml");
    std::fs::write(&redact, "[[rule]]\ntoken = \"PROJECT\"\npattern = 'Project \\w+'\n").unwrap();
    let server = Server::new(vec![Answer::json(&json!({"choices": [{"message":
        {"content": "[PROJECT_1] is fine, [PROJECT_2] is not."}, "finish_reason": "stop"}]}))]);
    let with = LlmOptions { redact: Some(redact.clone()), ..options("local", &server) };
    let Outcome::Written { section, .. } = narrate(&analysis, with.clone(), variables("x")).unwrap() else { panic!() };
    let body = String::from_utf8(server.got()[0].body.clone()).unwrap();
    assert!(body.contains("[PROJECT_1]") && !body.contains("Falcon"), "{body}");
    let Block::Note(note) = &section.blocks[0] else { panic!() };
    assert!(note.text.starts_with("Project Falcon is fine, [PROJECT_2"), "{}", note.text);
    for wrong in ["[[rule]]\ntoken = \"PROJECT\"\npattern = '('\n", "[[rule]]\ntoken = \"p\"\npattern = 'x'\n", "what"]
    {
        std::fs::write(&redact, wrong).unwrap();
        let error = narrate(&analysis, with.clone(), variables("x")).err().unwrap();
        assert!(matches!(&error, LlmError::Usage(text) if text.contains("--llm-redact")), "{error}");
    }
}

#[test]
fn small_models_get_what_matters_most() {
    for fixture in ["planted", "two_nodes"] {
        let analysis = analysis(fixture);
        let server = Server::new(answers("local"));
        narrate(&analysis, options("local", &server), variables("somebody")).unwrap();
        let body = String::from_utf8(server.got()[1].body.clone()).unwrap();
        assert!(body.len() <= 12 << 10, "{fixture}: {}", body.len());
        for part in ["busy_pct", "time_breakdown", "kernel_summary", &analysis.document.findings[0].rule] {
            assert!(body.contains(part), "{fixture}: {part}");
        }
    }
}

#[test]
fn endless_answers_are_cut() {
    let analysis = analysis("merged");
    let long = "The GPUs are busy 99.7% of the time, or rather 98.76%. ".repeat(2000);
    let server =
        Server::new(vec![Answer::json(&json!({"choices": [{"message": {"content": long}, "finish_reason": "stop"}]}))]);
    let Outcome::Written { section, .. } = narrate(&analysis, options("local", &server), variables("x")).unwrap()
    else {
        panic!()
    };
    let texts = section.blocks.iter().map(|block| match block {
        Block::Note(note) => note.text.as_str(),
        _ => "",
    });
    let texts: Vec<&str> = texts.collect();
    assert!(texts.iter().map(|text| text.len()).sum::<usize>() < 40_000);
    assert!(texts.iter().any(|text| text.contains("the rest is left out")), "{:?}", texts.last());
}
