//! The end of the program: with its last window, or with a signal.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

use super::server::Server;
use crate::common::run;

const TRACES: &str = "fixtures/two_nodes";

/// Opens a window, and waits until the server knows it.
fn window(server: &Server) -> BufReader<TcpStream> {
    let mut stream = server.connect();
    let (address, token) = (&server.address, &server.token);
    write!(stream, "GET /api/events?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with("data: ") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0);
    }
    reader
}

fn has_ended(server: &mut Server, within: Duration) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < within {
        if let Some(status) = server.child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    None
}

#[test]
fn the_program_ends_after_its_last_window() {
    let mut server = Server::start(&[TRACES, "--until-closed", "1"]);
    let (first, second) = (window(&server), window(&server));
    drop(first);
    assert!(has_ended(&mut server, Duration::from_secs(3)).is_none());
    drop(second);
    let status = has_ended(&mut server, Duration::from_secs(20)).expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_window_that_is_loaded_again_keeps_the_program() {
    let mut server = Server::start(&[TRACES, "--until-closed", "2"]);
    drop(window(&server));
    std::thread::sleep(Duration::from_millis(700));
    let again = window(&server);
    assert!(has_ended(&mut server, Duration::from_secs(4)).is_none());
    drop(again);
}

#[test]
fn a_server_for_good_ends_with_ctrl_c() {
    let mut server = Server::start(&[TRACES, "--until-closed", "0"]);
    drop(window(&server));
    assert!(has_ended(&mut server, Duration::from_secs(2)).is_none());
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    let status = has_ended(&mut server, Duration::from_secs(10)).expect("it ends");
    assert_eq!(status.signal(), Some(2));
}

#[test]
fn wrong_command_lines_are_refused_before_anything_is_served() {
    assert_eq!(run(&["view"]).code, 2);
    assert_eq!(run(&["view", "no-such-file"]).code, 2);
    assert_eq!(run(&["view", TRACES, "--port", "65536"]).code, 2);
    assert_eq!(run(&["view", TRACES, "--compare", "no-such-file"]).code, 2);
    assert_eq!(run(&["view", "fixtures/source"]).code, 3);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = run(&["view", TRACES, "--port", &port]);
    assert!(refused.code == 2 && refused.stderr.contains(&port), "{}: {}", refused.code, refused.stderr);
}
