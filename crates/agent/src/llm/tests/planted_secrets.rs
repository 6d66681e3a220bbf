//! Secrets of many kinds, planted in all foreign texts, appear in no request of any provider.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::privacy::{analysis, answers, narrate, options, plant};
use super::server::Server;
use crate::llm::environment::Variables;
use crate::llm::payload::Share;
use crate::llm::settings::LlmOptions;
use wavesieve_report::analysis::Analysis;

/// Secrets, each with a sentence or command that contains it.
#[derive(Clone, Debug)]
struct Secrets {
    host: String,
    user: String,
    kernel: String,
    /// Texts that must not appear at any level, with the text around them.
    always: Vec<(String, String)>,
}

fn secrets() -> impl Strategy<Value = Secrets> {
    let word = || "[a-z]{2}Zq[a-z0-9]{7}";
    let hex = || "[0-9a-f]{4}";
    let keys = "(npm_|gsk_|nvapi-|r8_|pypi-|hf_|ghp_|github_pat_|glpat-|xoxb-|sk-|sk-ant-api03-|AKIA)";
    (word(), word(), word(), word(), word(), (keys, "[A-Z0-9]{24}"), (hex(), hex(), hex()), 0u8..7).prop_map(
        |(host, user, kernel, folder, password, (kind, random), (a, b, c), form)| {
            let random = if kind == "AKIA" { random.chars().take(16).collect() } else { random };
            let path = match form {
                0 => format!("/zfs7/{folder}/x"),
                1 => format!("$HOME/{folder}/x"),
                2 => format!("${{SCRATCH}}/{folder}"),
                3 => format!("~/{folder}/größe"),
                4 => format!("\\\\server\\{folder}\\x"),
                5 => format!("\"/daten/my {folder}/x\""),
                _ => format!("-I/{folder}/include"),
            };
            let always = vec![
                (host.clone(), format!("on {host}.cluster.example")),
                (user.clone(), format!("for {user}@mail.example.org")),
                (folder, format!("in {path}")),
                (password.clone(), format!("with the password {password}")),
                (random.clone(), format!("and {kind}{random}")),
                (format!("{a}:{b}"), format!("at fe80::{a}:{b}:{c}")),
            ];
            Secrets { host, user, kernel, always }
        },
    )
}

/// The level, after planting the secrets in all foreign texts of a document.
fn planted(analysis: &mut Analysis, secrets: &Secrets, share: Share) {
    if share == Share::Figures {
        plant(&mut analysis.document, &secrets.kernel);
    }
    let sentences: Vec<&str> = secrets.always.iter().map(|(_, sentence)| sentence.as_str()).collect();
    let sentences = sentences.join(", ");
    let document = &mut analysis.document;
    document.summary = format!("slow {sentences}.");
    document.notes.iter_mut().for_each(|note| note.text = format!("damaged {sentences}."));
    for finding in &mut document.findings {
        finding.explanation = format!("It waits {sentences}.");
        finding.advice.push(format!("Look {sentences}."));
    }
    for input in &mut document.provenance.inputs {
        input.path = format!("/lustre/{}/my runs/x.db", secrets.user);
        input.hostname = Some(format!("{}.cluster.example.org", secrets.host));
    }
    analysis.prompt = Some(format!("Why is it slow {sentences}?"));
    analysis.collected.program =
        vec![format!("/opt/{}/app", secrets.user), format!("--password={}", secrets.always[3].0)];
}

/// The requests to a provider, from all attempts.
fn sent(analysis: &Analysis, provider: &str, share: Share, secrets: &Secrets) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let audit = directory.path().join("audit");
    let server = Server::new(answers(provider.split('+').next().unwrap()));
    let mut variables = BTreeMap::from([
        ("OPENAI_API_KEY", "sk-x"),
        ("WAVESIEVE_LLM_PRIVATE_MODEL", "big"),
        ("USER", secrets.user.as_str()),
        ("HOSTNAME", secrets.host.as_str()),
        // A PATH without `claude`: its input is recorded before.
        ("PATH", "/nonexistent"),
    ]);
    let name = match provider {
        "claude-code+program" => "claude-code",
        other => {
            variables.insert("ANTHROPIC_API_KEY", "sk-ant-x");
            other
        }
    };
    let pairs: Vec<(&str, &str)> = variables.into_iter().collect();
    let options = LlmOptions { share, audit: Some(audit.clone()), ..options(name, &server) };
    let result = narrate(analysis, options, Variables::of_pairs(&pairs));
    assert!(result.is_ok() || provider == "claude-code+program", "{provider}: {:?}", result.err());
    let mut all: Vec<String> = server.got().iter().map(super::server::Got::bytes).collect();
    let recorded = std::fs::read_to_string(&audit).unwrap();
    assert!(recorded.lines().count() >= if name == provider { 2 } else { 1 }, "{provider}");
    all.push(recorded);
    all
}

#[test]
fn no_planted_secret_leaves() {
    let analysis = RefCell::new(analysis("merged"));
    let original = analysis.borrow().document.clone();
    let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
    proptest!(config, |(secrets in secrets())| {
        let mut analysis = analysis.borrow_mut();
        for share in [Share::Figures, Share::Names, Share::Source] {
            analysis.document = original.clone();
            planted(&mut analysis, &secrets, share);
            for provider in ["anthropic", "openai", "private", "local", "claude-code", "claude-code+program"] {
                for text in sent(&analysis, provider, share, &secrets) {
                    let of_level = (share == Share::Figures).then_some(&secrets.kernel);
                    for secret in secrets.always.iter().map(|(secret, _)| secret).chain(of_level) {
                        let place = text.find(secret.as_str());
                        let around = place.and_then(|place| text.get(place.saturating_sub(60)..));
                        prop_assert!(place.is_none(), "{} {:?} {}: {:?}", provider, share, secret, around);
                    }
                }
            }
        }
    });
}
