//! Texts that must not leave, and texts that stay.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Redactor, Rules, TokenMap};
use crate::llm::payload::Share;

fn redactor() -> Redactor {
    let mut map = TokenMap::default();
    map.name("KERNEL", "conv2d_forward_kernel");
    map.name("HOST", "tower");
    map.name("PATH", "/scratch/my data/run 1.db");
    Redactor::new(Rules::new(Share::Figures, None).unwrap(), map)
}

/// Facts 33: paths and kernels; and what the path list of others misses.
#[test]
fn what_is_taken_out() {
    for (text, expected) in [
        ("see /home/user/my_app.cpp please", "see [PATH_2] please"),
        ("conv2d_forward_kernel, conv2d_forward_kernel2", "[KERNEL_1], conv2d_forward_kernel2"),
        ("open '/scratch/my data/run 1.db' on tower", "open '[PATH_1]' on [HOST_1]"),
        ("-I/lustre/orion/inc -L/opt/rocm", "-I[PATH_2] -L[PATH_3]"),
        ("~/x ../../y ./run.sh", "[PATH_2] [PATH_3] [PATH_4]"),
        (r"C:\Users\me\a.txt and \\server\share\b", "[PATH_2] and [PATH_3]"),
        ("src/gemm.hip:12 and kernel.cpp", "[FILE_1]:12 and [FILE_2]"),
        ("mail me@example.org or git@host:repo", "mail [EMAIL_1] or [EMAIL_2]:repo"),
        ("https://git.example.com/a?b=c", "[URL_1]"),
        ("node nid001234 at 10.1.2.3:8080", "node [HOST_2] at [ADDRESS_1]"),
        ("login01.cluster.example.edu", "[HOST_2]"),
        ("API_KEY=abc123def and Bearer abcdefgh", "API_KEY=[SECRET_1] and Bearer [SECRET_2]"),
        ("sk-ant-api03-abcdefghijk", "[SECRET_1]"),
        ("password: hunter2", "password: [SECRET_1]"),
    ] {
        assert_eq!(redactor().text(text), expected, "{text}");
    }
}

/// Secrets, each within a sentence; nothing of them is left.
#[test]
fn secrets_of_all_kinds_are_taken_out() {
    for (text, secret) in [
        ("the password hunter2 works", "hunter2"),
        ("Passwort: x9", "x9"),
        ("my password for the database is hunter2.", "hunter2"),
        ("./a.out --password hunter2 --steps 3", "hunter2"),
        ("tool --api-key=hunter2", "hunter2"),
        ("mysql -u bob -p hunter2 db", "hunter2"),
        ("mysql -u bob -phunter2 db", "bob"),
        ("npm_abcdefghij0123456789", "abcdefghij"),
        ("key gsk_abcdefghij0123456789, nvapi-abcdefghij0123456789", "abcdefghij"),
        ("r8_abcdefghij0123456789 pypi-abcdefghij0123456789", "abcdefghij"),
        ("hf_abcdefghij0123456789 ghp_abcdefghij0123456789", "abcdefghij"),
        ("github_pat_abcdefghij0123456789 glpat-abcdefghij0123456789", "abcdefghij"),
        ("xoxb-1234567890-abcdef AKIAABCDEFGHIJKLMNOP", "ABCDEFGHIJ"),
        ("AIzaSyabcdefghij0123456789abcdefghij012", "abcdefghij"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij", "abcdefghij"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"),
        ("https://me:hunter2@host.example/x", "hunter2"),
        ("me:hunter2@nid0001", "hunter2"),
        ("https://hooks.slack.com/services/T0/B0/hunter2", "hunter2"),
        ("hooks.slack.com/services/T0/B0/hunter2", "hunter2"),
        ("cc -I/zfs9/inc -L/zfs9/lib --out=/zfs9/o", "zfs9"),
        ("in $HOME/falcon and ${SCRATCH}/falcon or ~/falcon", "falcon"),
        ("open \"/zfs9/my falcon/x\" and '~/my falcon/y'", "falcon"),
        ("cd /zfs9/Größe/falcon and /daten/größe", "größe"),
        ("/home/me/my\\ falcon/x", "falcon"),
        ("on //server/falcon/x and \\\\server\\falcon", "falcon"),
        ("C:/Users/falcon %APPDATA%\\falcon", "falcon"),
        ("mac 00:1a:2B:3c:4d:5e", "1a:2B"),
        ("at ::1 or fe80::1ff:fe23%eth0 or 2001:db8::8a2e", "::"),
        ("10.20.30.40:8080 and [::1]:80", "10.20"),
        ("jane.doe+x@mail.falcon.org", "falcon"),
        ("node17.cluster.falcon and nid[0001-0004,0007]", "nid["),
        ("srun --nodelist=falcon --account falcon", "falcon"),
        ("hostname: falcon, username=falcon", "falcon"),
    ] {
        let passed = redactor().text(text);
        assert!(!passed.contains(secret), "{text}: {passed}");
    }
}

/// Keys of every form that is known, behind and before what stands around them in names of kernels, paths and templates.
#[test]
fn secrets_are_found_within_names() {
    let tokens = [
        "sk-abcdefghij0123456789ABCD",
        "sk-ant-api03-abcdefghij0123",
        "sk-proj-abcdefghij0123456789",
        "sk_live_abcdefghij0123",
        "pk_test_abcdefghij0123",
        "rk_live_abcdefghij0123",
        "gsk_abcdefghij0123456789",
        "nvapi-abcdefghij0123456789",
        "r8_abcdefghij0123456789",
        "npm_abcdefghij0123456789",
        "pypi-abcdefghij0123456789",
        "dop_v1_abcdef0123456789abcd",
        "xai-abcdefghij0123456789",
        "pplx-abcdefghij0123456789",
        "ghp_abcdefghij0123456789",
        "gho_abcdefghij0123456789",
        "ghu_abcdefghij0123456789",
        "ghs_abcdefghij0123456789",
        "ghr_abcdefghij0123456789",
        "github_pat_abcdefghij0123456789",
        "glpat-abcdefghij0123456789",
        "gldt-abcdefghij0123456789",
        "hf_abcdefghij0123456789",
        "xoxb-1234567890-abcdef0123",
        "xapp-1234567890-abcdef0123",
        "AKIAABCDEFGHIJ012345",
        "ASIAABCDEFGHIJ012345",
        "AIzaSyabcdefghij0123456789abcdefghij012",
        "ya29.abcdefghij0123456789",
        "SG.abcdefghij0123456789.abcdefghij0123456789",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij",
        "https://me:abcdefghij@host/x",
        "1b4e28ba-2fa1-11d2-883f-abcdefabcdef",
        "0123456789abcdef0123456789abcdef",
        "10.20.30.40",
        "00:1a:2b:3c:4d:5e",
        "password=abcdefghij0123",
        "API_KEY=abcdefghij0123",
        "Bearer abcdefghij0123",
        "gpu7.cluster.example.com",
    ];
    for token in tokens {
        // The part that is a secret.
        let secret = if token.contains("abcdefghij") { "abcdefghij" } else { token.split_at(token.len() - 8).1 };
        for before in [
            "kernel_",
            "kernel",
            "k7",
            "Kernel",
            "a-",
            "ns::f<",
            "void ns::f<int, ",
            "/opt/x/",
            "x/kernel_",
            "_",
            "__",
            "\u{e4}_",
        ] {
            let is_joined = before.ends_with(char::is_alphanumeric);
            let has_start = ["1b4e", "0123", "10.", "00:", "Bearer"].iter().any(|start| token.starts_with(start));
            if is_joined && has_start {
                // A number or word that goes on before them is another one.
                continue;
            }
            for after in ["", ">(int)", "_v2", "_kernel", ".kd", "/y", ")", " x"] {
                let text = format!("{before}{token}{after}");
                for share in [Share::Figures, Share::Names, Share::Source] {
                    let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
                    let passed = redactor.text(&text);
                    assert!(!passed.contains(secret), "{text}: {passed}");
                }
            }
        }
    }
    for text in [
        "task-scheduling-and-more disk-cached-buffers-of mask-generation-kernel-of-x vectorized8_elementwisekernel",
        "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>(int)",
        "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1",
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEviT0_",
        "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>) triton_poi_fused_add_mul_17 mask-step-batch-22",
    ] {
        assert_eq!(redactor().text(text), text);
    }
}

/// A person known only from a path.
#[test]
fn people_of_paths_are_found_everywhere() {
    for path in [
        "/home/azalea/run/x.db",
        "/Users/azalea/traces",
        "/scratch/users/azalea/x",
        "/lustre/orion/home/azalea",
        "C:\\Users\\azalea\\x",
        "file:///home/azalea/lib.so",
        "see ~azalea/x",
        "-I/export/home/azalea/include",
    ] {
        for text in [
            format!("kernel of azalea; {path}"),
            format!("{path}: AZALEA_gemm, thread azalea7"),
            format!("void azalea::gemm<float>(int) in {path} is slow"),
        ] {
            for share in [Share::Figures, Share::Names, Share::Source] {
                let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
                // In one text, or in texts of a body, the path last.
                let passed = redactor.text(&text);
                assert!(!passed.to_lowercase().contains("azalea"), "{text}: {passed}");
                assert_eq!(redactor.text(&passed), passed);
                let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
                let body = json!({ "messages": [{ "content": "azalea waits" }, { "content": json!({ "a": path }).to_string() }] });
                let sent = redactor.bytes(body.to_string().as_bytes());
                let sent = String::from_utf8(sent).unwrap();
                assert!(!sent.contains("azalea"), "{path}: {sent}");
                assert_eq!(redactor.leak(sent.as_bytes()), None);
            }
        }
    }
    // Paths stay whole, and words and system accounts are not people.
    let mut redactor = redactor();
    assert_eq!(redactor.text("in /home/azalea/x by azalea"), "in [PATH_2] by [USER_1]");
    for text in ["model of shared users", "the work of root", "data"] {
        redactor.text("/home/shared/x /home/root/x /users/model/y /home/work/z /home/data/z");
        assert_eq!(redactor.text(text), text);
    }
}

/// Rules of a user take nothing out of tokens.
#[test]
fn tokens_are_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.toml");
    let own = "[[rule]]\ntoken = \"OWN\"\npattern = '(?i)kernel'\n[[rule]]\ntoken = \"ALL\"\npattern = '[0-9]+|falcon.*end'\n";
    std::fs::write(&path, own).unwrap();
    let mut map = TokenMap::default();
    map.name("KERNEL", "conv2d_forward_kernel");
    let mut redactor = Redactor::new(Rules::new(Share::Figures, Some(&path)).unwrap(), map);
    let passed = redactor.text("a kernel 7: conv2d_forward_kernel; falcon conv2d_forward_kernel end");
    assert_eq!(passed, "a [OWN_1] [ALL_1]: [KERNEL_1]; [ALL_2][KERNEL_1][ALL_3]");
    assert_eq!(redactor.map().restored("[KERNEL_1]"), "conv2d_forward_kernel");
}

/// In a text within a text, line breaks would be letters in front of what is looked for.
#[test]
fn data_is_looked_through_before_it_becomes_text() {
    let code = "tower\n/gpfs01/me/x\n\tsk-ant-api03-abcdefghijk\n\t10.1.2.3";
    let mut data = json!({ "role": "on tower", "code": code, "range": r"step \/lustre\/a" });
    redactor().data(&mut data);
    let text = json!({ "content": data.to_string() }).to_string();
    for secret in ["tower", "gpfs01", "abcdefghijk", "10.1.2.3", "lustre"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn words_of_the_field_stay() {
    for text in [
        "GPU busy 81.2% (12.3 ms), H2D at 24.5 GB/s, 1/4 of it; kernel and/or copy; e.g. rocprofv3 --kernel-trace -- APP",
        "at 12:30:45 on 2024-05-01, 3:1 in favor, ROCm 7.0.1, a::b::c<3>::d, std::abs, ::abs, x ? y : z",
        "per-token latency, 4096 tokens per second, TCC_HIT[0-15], grid[256,256,1], kernel[0], --max-tokens 5",
        "Run rocprofv3 --pmc SQ_WAVES -d out -- APP; use 50% of $5 and 3/8, I/O, TCP/IP",
    ] {
        assert_eq!(redactor().text(text), text);
    }
}

#[test]
fn json_is_looked_through_whatever_its_escapes() {
    let body =
        br#"{"model":"/models/llama","messages":[{"role":"user","content":"a \u002fhome\u002fme\u002fx\nb tower"}]}"#;
    let mut redactor = redactor();
    let sent = redactor.bytes(body);
    let value: Value = serde_json::from_slice(&sent).unwrap();
    let expected =
        json!({"model": "/models/llama", "messages": [{"role": "user", "content": "a [PATH_2]\nb [HOST_1]"}]});
    assert_eq!(value, expected);
    assert_eq!(redactor.leak(&sent), None);
    assert_eq!(redactor.leak(body).as_deref(), Some("[HOST_1]"));
    assert_eq!(redactor.map().restored("look at [PATH_2]"), "look at /home/me/x");
}

/// Arguments of a call are JSON in a text of JSON.
#[test]
fn arguments_stay_json() {
    let query = "COPY (SELECT 1) TO \"/tmp/x/evil.csv\"";
    for arguments in [
        json!({ "query": query }),
        json!({ "query": "SELECT '/zfs9/a b\\' || \"x\non tower\"", "tower": ["~/x\"y", { "a": "me@example.org" }] }),
        json!([json!({ "query": query }).to_string()]),
        json!({ "password": "hunter2", "source": "/zfs9/my falcon/x", "note": "on tower", "n": 1.5 }),
        json!({ "query": "SELECT 1" }),
    ] {
        let body = json!({ "messages": [{ "function": { "arguments": arguments.to_string() } }] });
        let mut redactor = redactor();
        let sent = redactor.bytes(body.to_string().as_bytes());
        assert_eq!(redactor.leak(&sent), None);
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        let text = sent["messages"][0]["function"]["arguments"].as_str().unwrap();
        let back: Value = serde_json::from_str(text).unwrap();
        for secret in ["/tmp", "evil", "tower", "zfs9", "falcon", "hunter2", "example.org"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        if arguments.get("query").and_then(Value::as_str) == Some(query) {
            assert_eq!(back, json!({ "query": "COPY (SELECT 1) TO \"[PATH_2]\"" }));
        }
        let again = redactor.bytes(sent.to_string().as_bytes());
        assert_eq!(serde_json::from_slice::<Value>(&again).unwrap(), sent);
    }
    assert_eq!(
        redactor().leak(json!({"a": json!({"b": "x\ntower"}).to_string()}).to_string().as_bytes()).as_deref(),
        Some("[HOST_1]")
    );
}

/// Statements may change the case and the surroundings of names of machines, people, paths and commands.
#[test]
fn names_are_found_in_any_case_and_within_words() {
    let mut map = TokenMap::default();
    for (kind, name) in
        [("HOST", "tw015"), ("USER", "jsmith"), ("COMMAND", "python3 train.py --ranks 4"), ("HOST", "node")]
    {
        let token = map.name(kind, name);
        map.alias_anywhere(name, &token);
    }
    for share in [Share::Figures, Share::Names, Share::Source] {
        let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), map.clone());
        for (text, expected) in [
            ("qtw015 TW015x", "q[HOST_1] [HOST_1]x"),
            ("XJSMITH_1", "X[USER_1]_1"),
            ("x=PYTHON3 train.py --ranks 4;", "x=[COMMAND_1];"),
            ("two nodes, Node", "two nodes, Node"),
        ] {
            assert_eq!(redactor.text(text), expected, "{text}");
            let body = json!({ "content": text }).to_string();
            assert_eq!(redactor.leak(body.as_bytes()).is_some(), text != expected, "{text}");
        }
    }
}

#[test]
fn machines_with_a_number_and_people_are_recognized() {
    for (text, secret) in [
        ("slow on node3", "node3"),
        ("gpu05 waits", "gpu05"),
        ("is tw015 late", "tw015"),
        ("ctr07, ctr7", "ctr"),
        ("at gpu-node-3", "gpu-node-3"),
        ("mi300x-01 is slow", "mi300x-01"),
        ("x1000c0s0b0n0 and x3005c0s1b1", "x3"),
        ("why is it slower on falcon12?", "falcon12"),
        ("host tw115 waits", "tw115"),
        ("user=jsmith", "jsmith"),
        ("uid=bob", "bob"),
        ("in ~bob.", "bob"),
        ("login bjones", "bjones"),
    ] {
        for share in [Share::Figures, Share::Names, Share::Source] {
            let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), TokenMap::default());
            let passed = redactor.text(text);
            assert!(!passed.contains(secret), "{text}: {passed}");
        }
    }
    for text in [
        "gfx942 gfx90a gfx1100 mi300x MI250X fp16 bf16 fp8 int8 uint32 sha256 conv2d layer0 rank3 rank 03 gpu0 stream1 step_0001",
        "slower on gfx942 than on mi300x, on rank3, on gpu0 and on layer12; host 3, node 2; kernel01 epoch001",
        "the login node, at login time, ~5 ms, ns::~Tensor(), v01, rocprofv3, python3, H2D, L2, llama3",
    ] {
        assert_eq!(redactor().text(text), text);
    }
}

proptest! {
    #[test]
    fn the_pass_ends_where_it_began(text in "[ -~\u{e4}\n]{0,80}") {
        let mut redactor = redactor();
        let once = redactor.text(&text);
        prop_assert_eq!(redactor.text(&once), once);
    }
}
