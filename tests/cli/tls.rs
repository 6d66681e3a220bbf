//! Trust in providers: certificates of `--llm-ca` and `--llm-insecure`, and proxies.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Run, finish, program, run};
use crate::models::Server;
use crate::skipping::has_tools;

const INPUT: &str = "fixtures/two_nodes";

/// The servers of `tls/server.py`, with the directory of their authority.
struct Servers {
    child: Child,
    directory: tempfile::TempDir,
    here: String,
    elsewhere: String,
}

impl Servers {
    /// None where the programs are absent that they need.
    fn start() -> Option<Self> {
        if !has_tools(&["python3", "openssl"]) {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/tls/server.py");
        let mut child = Command::new("python3")
            .arg(script)
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let urls: Vec<String> = line.split_whitespace().map(|port| format!("https://127.0.0.1:{port}/v1")).collect();
        let [here, elsewhere] = urls.try_into().expect("two ports");
        Some(Self { child, directory, here, elsewhere })
    }

    fn authority(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn ask(url: &str, more: &[&str]) -> Run {
    let arguments = ["analyze", INPUT, "--format", "json", "--llm", "local", "--llm-timeout", "20", "--llm-url", url];
    run(&[&arguments[..], more].concat())
}

#[test]
fn certificates_must_be_of_an_authority_that_is_trusted() {
    let Some(servers) = Servers::start() else { return };
    let authority = servers.authority();
    let authority = authority.to_str().unwrap();
    let unknown = ask(&servers.here, &[]);
    assert_eq!(unknown.code, 0, "{}", unknown.stderr);
    for word in ["warning: no model explains", "certificate", "--llm-ca"] {
        assert!(unknown.stderr.contains(word), "{word}: {}", unknown.stderr);
    }
    let trusted = ask(&servers.here, &["--llm-ca", authority]);
    assert!(trusted.stdout.contains("Idle.") && !trusted.stderr.contains("warning"), "{}", trusted.stderr);
    let wrong = ask(&servers.elsewhere, &["--llm-ca", authority]);
    assert!(!wrong.stdout.contains("Idle."), "{}", wrong.stdout);
    for word in ["certificate", "not valid for", "name the host"] {
        assert!(wrong.stderr.contains(word), "{word}: {}", wrong.stderr);
    }
    for url in [&servers.here, &servers.elsewhere] {
        let insecure = ask(url, &["--llm-insecure"]);
        assert!(insecure.stdout.contains("Idle."), "{}", insecure.stderr);
        assert!(
            insecure.stderr.contains("warning: --llm-insecure: certificates are not checked"),
            "{}",
            insecure.stderr
        );
    }
}

#[test]
fn a_file_of_certificates_is_checked_before_anything_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ca.pem");
    let shown = path.to_str().unwrap();
    let refused = || {
        let run = run(&["analyze", "no/such/trace", "--llm", "local", "--llm-ca", shown]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("--llm-ca") && run.stderr.contains(shown), "{}", run.stderr);
        run.stderr
    };
    assert!(refused().contains("cannot be read"));
    for (content, expected) in [
        ("", "holds no certificate"),
        ("just text\n", "holds no certificate"),
        ("-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n", "PEM"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "invalid peer certificate: BadEncoding"),
    ] {
        fs::write(&path, content).unwrap();
        let text = refused();
        assert!(text.contains(expected), "{content}: {text}");
    }
}

/// A run with a proxy for everything, which its password must not leave.
fn through(proxy: &str, url: &str, without: Option<&str>) -> Run {
    let arguments = ["analyze", INPUT, "--format", "json", "--llm", "local", "--llm-timeout", "4", "--llm-url", url];
    let mut command = program(&arguments);
    for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
        command.env_remove(name);
    }
    command.env("HTTP_PROXY", proxy).env("HTTPS_PROXY", proxy).envs(without.map(|hosts| ("NO_PROXY", hosts)));
    let run = finish(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stderr.contains("hunter2") && !run.stdout.contains("hunter2"), "{}", run.stderr);
    run
}

#[test]
fn proxies_that_refuse_are_named_without_their_passwords() {
    let refusing = Server::new(vec![(407, String::new())]);
    let place = refusing.url.trim_end_matches("/v1").trim_start_matches("http://").to_owned();
    for (scheme, variable) in [("http", "HTTP_PROXY"), ("https", "HTTPS_PROXY")] {
        for (place, reason) in [(place.as_str(), "proxy"), ("127.0.0.1:9", "refused")] {
            let proxy = format!("http://me:hunter2@{place}");
            let run = through(&proxy, &format!("{scheme}://llm.example.org/v1"), None);
            for word in [reason, &format!("check the proxy http://{place} of {variable}")] {
                assert!(run.stderr.contains(word), "{scheme} {place} {word}: {}", run.stderr);
            }
        }
    }
    assert!(!refusing.got().is_empty());
}

#[test]
fn some_hosts_are_asked_without_a_proxy() {
    let (proxy, server) = (Server::new(vec![(407, String::new())]), Server::saying("Idle."));
    let proxy_url = proxy.url.trim_end_matches("/v1").replace("http://", "http://me:hunter2@");
    // This machine, by an address that does not say so.
    let url = server.url.replace("127.0.0.1", "0.0.0.0");
    let run = through(&proxy_url, &url, Some("example.org, 0.0.0.0"));
    assert!(run.stdout.contains("Idle.") && proxy.got().is_empty(), "{}", run.stderr);
    let run = through(&proxy_url, &url, None);
    assert!(run.stderr.contains("the proxy wants a login") && proxy.got().len() == 1, "{}", run.stderr);
    assert!(proxy.got()[0].contains("busy_pct"), "the proxy gets what is redacted");
    // And this machine by one that does.
    let run = through(&proxy_url, &server.url, None);
    assert!(run.stdout.contains("Idle.") && proxy.got().len() == 1, "{}", run.stderr);
    // One that cannot be reached is not blamed on a proxy that is not used.
    let run = through(&proxy_url, "http://0.0.0.0:9/v1", Some("*"));
    assert!(run.stderr.contains("cannot reach local") && !run.stderr.contains("proxy"), "{}", run.stderr);
}
