//! Foreign and hostile requests get an error, and the server goes on.

use std::io::{BufReader, Read, Write};
use std::time::{Duration, Instant};

use super::server::{Server, answer};

const TRACES: &str = "fixtures/two_nodes";

#[test]
fn requests_of_other_sites_and_without_the_token_are_refused() {
    let server = Server::start(&[TRACES]);
    let (address, token) = (&server.address, &server.token);
    let own = format!("Host: {address}\r\nX-Wavesieve-Token: {token}");
    let port = address.rsplit(':').next().unwrap();
    for (headers, expected) in [
        (own.clone(), 200),
        (format!("Host: localhost:{port}\r\nX-Wavesieve-Token: {token}"), 200),
        (format!("{own}\r\nOrigin: http://{address}"), 200),
        (format!("Host: {address}"), 401),
        (format!("Host: {address}\r\nX-Wavesieve-Token: {}", "0".repeat(32)), 401),
        (format!("Host: rebound.example:{port}\r\nX-Wavesieve-Token: {token}"), 403),
        (format!("{own}\r\nOrigin: http://evil.example"), 403),
        (format!("{own}\r\nOrigin: null"), 403),
        (format!("{own}\r\nSec-Fetch-Site: cross-site"), 403),
        (format!("{own}\r\nHost: {address}"), 400),
        (format!("X-Wavesieve-Token: {token}"), 400),
    ] {
        let answer = server.raw(format!("GET /api/picture HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes());
        assert_eq!(answer.status, expected, "{headers}");
        for header in ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Content-Security-Policy: "] {
            assert!(answer.head.contains(header), "{header}");
        }
        assert!(!answer.head.contains("Access-Control"));
    }
    let page = server.raw(format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
    assert_eq!((page.status, page.body.starts_with(b"This address lacks its token")), (401, true));
    let page = server.get(&format!("/?token={token}"));
    assert!(
        page.status == 200 && page.head.contains("connect-src 'self'") && page.head.contains("frame-ancestors 'none'")
    );
    assert!(!String::from_utf8(page.body).unwrap().contains(token.as_str()));
}

#[test]
fn hostile_requests_get_errors_and_no_answer_fails() {
    let server = Server::start(&[TRACES]);
    let huge = "9".repeat(400);
    let many = (0..5_000).map(|gpu| format!("r0g{gpu}")).collect::<Vec<String>>().join(",");
    let lanes = |rest: &str| format!("/api/lanes?{rest}");
    for target in [
        lanes(""),
        lanes("groups=r0g0"),
        lanes("groups=&start_ns=0&end_ns=1&pixels=1"),
        lanes("groups=r0g0&start_ns=5&end_ns=5&pixels=1"),
        lanes("groups=r0g0&start_ns=9&end_ns=5&pixels=1"),
        lanes("groups=r0g0&start_ns=0&end_ns=9&pixels=0"),
        lanes("groups=r0g0&start_ns=0&end_ns=9&pixels=-1"),
        lanes("groups=r0g0&start_ns=0&end_ns=9&pixels=99999999"),
        lanes("groups=r0g0&start_ns=NaN&end_ns=9&pixels=1"),
        lanes("groups=r0g0&start_ns=0&end_ns=inf&pixels=1"),
        lanes("groups=r0g0&start_ns=0.5&end_ns=9&pixels=1"),
        lanes(&format!("groups=r0g0&start_ns=0&end_ns={huge}&pixels=1")),
        lanes("groups=r0g0&start_ns=0&end_ns=9223372036854775807&pixels=1"),
        lanes("groups=r0g0&start_ns=0&start_ns=1&end_ns=9&pixels=1"),
        lanes("groups=r0g0&start_ns=0&end_ns=9&pixels=1&other=1"),
        lanes("groups=../../etc/passwd&start_ns=0&end_ns=9&pixels=1"),
        lanes("groups=%ff&start_ns=0&end_ns=9&pixels=1"),
        lanes("groups=%2&start_ns=0&end_ns=9&pixels=1"),
        lanes(&format!("groups={many}&start_ns=0&end_ns=9&pixels=1")),
        format!("/{}", "a".repeat(100_000)),
        "/../../etc/passwd".to_owned(),
        "/%2e%2e/%2e%2e/etc/passwd".to_owned(),
        "/api/picture?of=other".to_owned(),
        "/api/query?name=kernel_summary&rows=-1".to_owned(),
        "/api/query?name=kernel_summary&set.top=many".to_owned(),
        "/api/query".to_owned(),
        "/api/sql".to_owned(),
        "/api/nothing".to_owned(),
        "http://evil.example/".to_owned(),
    ] {
        let answer = server.get(&target);
        let shown: String = target.chars().take(80).collect();
        assert!((400..500).contains(&answer.status), "{shown}: {}", answer.status);
    }
    let wide = lanes("groups=r0g0&start_ns=-3200000000000000000&end_ns=3200000000000000000&pixels=1");
    assert_eq!(server.get(&wide).status, 200);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\r\n\r\n\r\n\r\nno\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS /api/sql HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
        b"POST /api/sql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
        b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n",
    ] {
        let status = server.raw(bytes).status;
        assert!((400..500).contains(&status), "{:?}: {status}", String::from_utf8_lossy(bytes));
    }
    for body in ["", "{", "[]", "null", r#"{"sql": 1}"#, r#"{"sql": "SELECT 1", "other": 1}"#, "\u{0}"] {
        assert_eq!(server.post("/api/sql", body).0, 400, "{body}");
    }
    assert_eq!(server.get("/api/picture").status, 200);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(&[TRACES]);
    let (address, token) = (&server.address, &server.token);
    let get = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nX-Wavesieve-Token: {token}\r\n\r\n");
    let mut stream = server.connect();
    let all = get("/api/complete?prefix=sel") + &get("/api/nothing") + &get("/api/picture");
    stream.write_all(all.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let statuses: Vec<u16> = (0..3).map(|_| answer(&mut reader).status).collect();
    assert_eq!(statuses, [200, 404, 200]);
}

#[test]
fn slow_clients_do_not_hold_others_up() {
    let server = Server::start(&[TRACES]);
    let mut slow: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    }
    let start = Instant::now();
    assert_eq!(server.get("/api/complete?prefix=s").status, 200);
    assert!(start.elapsed() < Duration::from_secs(5));
    let mut late = slow.pop().unwrap();
    let mut text = String::new();
    late.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
}

#[test]
fn two_clients_get_the_same() {
    let server = Server::start(&[TRACES]);
    let target = "/api/lanes?groups=r0g0,r1g0,r0,r1&start_ns=0&end_ns=100000000&pixels=800";
    let bodies: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| server.get(target).body)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(bodies.iter().all(|body| *body == bodies[0] && !body.is_empty()));
}

#[test]
fn silent_connections_are_closed_soon() {
    let server = Server::start(&[TRACES]);
    let (start, mut silent) = (Instant::now(), server.connect());
    let mut text = String::new();
    silent.read_to_string(&mut text).unwrap();
    assert!(text.is_empty() && start.elapsed() < Duration::from_secs(30), "{:?}: {text}", start.elapsed());
}

#[test]
fn too_many_connections_are_refused() {
    let server = Server::start(&[TRACES]);
    let held: Vec<_> = (0..64).map(|_| server.connect()).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/api/picture").status, 429);
    drop(held);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/api/picture").status, 200);
}
