//! `--llm-conversation`: questions that build on one another, and `--llm` of `report` and `scan`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Run, run};
use crate::models::Server;

fn run_with(server: &Server, arguments: &[&str]) -> Run {
    run(&[arguments, &["--llm", "local:tiny", "--llm-url", &server.url]].concat())
}

fn sent(server: &Server, place: usize) -> Vec<String> {
    let body: Value = serde_json::from_str(&server.got()[place]).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().skip(1).map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_second_question_continues_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("talk.json");
    let file = path.to_str().unwrap();
    let server = Server::saying("[KERNEL_1] is slow.");
    let ask = |input: &str, question: &str| {
        let run =
            run_with(&server, &["analyze", input, "-f", "json", "--prompt", question, "--llm-conversation", file]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        document["sections"][0]["notes"][0]["text"].as_str().unwrap().to_owned()
    };
    let answer = ask("fixtures/two_nodes", "why? password: hunter22 in /scratch/falcon");
    let kernel = answer.trim_end_matches(" is slow.");
    assert!(!kernel.contains("KERNEL"), "{kernel}");
    ask("fixtures/two_nodes", "and then?");
    let (first, second) = (sent(&server, 0), sent(&server, 1));
    assert!(first[0].contains("why? password: [SECRET_1] in [PATH_") && first[0].contains("busy_pct"), "{first:?}");
    assert_eq!((second.len(), second[1].as_str()), (3, "[KERNEL_1] is slow."));
    assert!(second[0].contains("busy_pct") && second[2].starts_with("and then?"), "{second:?}");
    assert!(!second[2].contains("busy_pct") && second[2].contains("unchanged: the data"), "{second:?}");
    let kept = read(&path);
    assert_eq!(kept["messages"][1]["content"].as_str().unwrap(), answer);
    assert_eq!((kept["turn_count"].as_u64(), kept["model"].as_str()), (Some(2), Some("tiny")));
    assert!(!fs::read_to_string(&path).unwrap().contains("hunter22"));
    let history = fs::read_to_string(directory.path().join("talk_history.jsonl")).unwrap();
    assert_eq!(history.lines().count(), 4);
    assert!(!history.contains("hunter22") && history.contains("\"ts\":\"20"), "{history}");
    // About another trace: its data are new, and the names of the first do not leave.
    ask("fixtures/planted", "is it the same here?");
    let third = sent(&server, 2);
    assert!(
        !third[0].contains("busy_pct") && third[0].contains("left out") && third[4].contains("busy_pct"),
        "{third:?}"
    );
    // A summary is a request too.
    let mut kept = read(&path);
    kept["keep_recent_turns"] = json!(1);
    fs::write(&path, kept.to_string()).unwrap();
    let more = ["--prompt", "in short?", "--llm-conversation", file, "--llm-compact-every", "1"];
    let run = run_with(&server, &[&["analyze", "fixtures/planted", "-f", "json"], &more[..]].concat());
    assert!(run.stderr.contains("the earlier turns were summed up: 1,200 tokens sent"), "{}", run.stderr);
    assert_eq!((server.got().len(), read(&path)["messages"].as_array().unwrap().len()), (5, 4));
    assert!(read(&path)["messages"][1]["content"].as_str().unwrap().starts_with("[Session summary] "));
    let bare = kernel.split(['<', '(']).next().unwrap().trim().rsplit([' ', ':']).next().unwrap();
    for body in server.got() {
        for secret in ["hunter22", "falcon", kernel, bare] {
            assert!(!body.contains(secret), "{secret}: {body}");
        }
    }
}

#[test]
fn a_conversation_stays_at_its_level_and_ends_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("talk.json");
    let file = path.to_str().unwrap();
    let server = Server::saying("Idle.");
    let ask = |more: &[&str]| {
        run_with(&server, &[&["analyze", "fixtures/two_nodes", "-q", "--llm-conversation", file], more].concat())
    };
    assert_eq!(ask(&["--llm-share", "names"]).code, 0);
    let before = fs::read(&path).unwrap();
    let lower = ask(&[]);
    assert!(lower.code == 2 && lower.stderr.contains("--llm-share names"), "{}", lower.stderr);
    // A dry run shows the earlier messages, and no answer leaves everything as it was.
    let dry = ask(&["--llm-share", "names", "--llm-dry-run"]);
    assert!(dry.stdout.contains("Idle.") && dry.code == 0, "{}", dry.stdout);
    let broken = Server::new(vec![(400, "{}".to_owned())]);
    let arguments = ["analyze", "fixtures/two_nodes", "-q", "--llm-conversation", file, "--llm-share", "names"];
    assert_eq!(run_with(&broken, &arguments).code, 0);
    assert_eq!((fs::read(&path).unwrap(), server.got().len()), (before, 1));
    // Where there is nothing old, there is nothing to sum up.
    assert_eq!(ask(&["--llm-share", "names", "--llm-compact-every", "1"]).code, 0);
    assert_eq!((server.got().len(), read(&path)["compact_every"].as_u64()), (2, Some(1)));
    fs::write(&path, "{\"format\": \"wavesieve-conversation\", ").unwrap();
    let damaged = run_with(&server, &["analyze", "no/such/trace", "--llm-conversation", file]);
    assert!(damaged.code == 2 && damaged.stderr.contains("damaged"), "{}", damaged.stderr);
    let alone = run(&["analyze", "fixtures/two_nodes", "--llm-conversation", file]);
    assert!(alone.code == 2 && alone.stderr.contains("--llm-conversation needs a provider"), "{}", alone.stderr);
}

/// Fact 34, with source code.
#[test]
fn source_code_is_shared_once() {
    let directory = tempfile::tempdir().unwrap();
    let (sources, path) = (directory.path().join("src"), directory.path().join("talk.json"));
    fs::create_dir(&sources).unwrap();
    let write = |name: &str, kernel: &str| {
        let code = format!("__global__ void {kernel}(float* x) {{ x[threadIdx.x] *= 2; }}\n");
        fs::write(sources.join(name), code).unwrap();
    };
    write("one.hip", "scale_one");
    let server = Server::saying("Fine.");
    let ask = || {
        let (sources, path) = (sources.to_str().unwrap(), path.to_str().unwrap());
        let run =
            run_with(&server, &["scan", sources, "-f", "json", "--llm-share", "source", "--llm-conversation", path]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    ask();
    ask();
    write("two.hip", "scale_two");
    ask();
    let code = |text: &str, kernel: &str| text.contains(&format!("void {kernel}"));
    assert!(code(&sent(&server, 0)[0], "scale_one"));
    let second = sent(&server, 1);
    assert!(code(&second[0], "scale_one") && !code(&second[2], "scale_one"), "{second:?}");
    assert!(second[2].contains("Already shared above and unchanged: the data, one.hip."), "{second:?}");
    let third = sent(&server, 2);
    assert!(code(&third[4], "scale_two") && !code(&third[4], "scale_one"), "{third:?}");
}

#[test]
fn reports_have_the_answer_too() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("report.html");
    let shown = page.to_str().unwrap();
    let server = Server::saying("Run `rocprofv3 --hip-trace -- APP` and `rocprofv3 --nonsense -- APP`.");
    let arguments = ["report", "fixtures/two_nodes", "-o", shown, "--prompt", "why?"];
    let run = run_with(&server, &[&arguments[..], &["--llm-dry-run"]].concat());
    assert!(run.code == 0 && run.stdout.contains("why?") && !page.exists(), "{}", run.stderr);
    let run = run_with(&server, &arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = fs::read_to_string(&page).unwrap();
    for word in ["Answer of the model tiny-1", "Suggested commands", "--nonsense"] {
        assert!(text.contains(word), "{word}");
    }
    let run = run_with(&server, &["report", "fixtures/two_nodes", "-o", "-", "-f", "json", "-q"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let table = &document["sections"][0]["tables"][0];
    let rows: Vec<(&str, &str)> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let value = |name: &str| row["values"][name].as_str().unwrap();
            (value("command"), value("confirmed"))
        })
        .collect();
    assert_eq!(rows, [("rocprofv3 --hip-trace -- APP", "yes"), ("rocprofv3 --nonsense -- APP", "no")]);
    assert_eq!(table["id"], "suggested_commands");
    let refused = Server::new(vec![(401, "{}".to_owned())]);
    let run = run_with(&refused, &arguments);
    assert!(run.code == 1 && page.exists(), "{}", run.stderr);
    let reports = directory.path().join("reports");
    let batch = ["report", "fixtures/two_nodes", "--group-by", "folder", "-d", reports.to_str().unwrap()];
    let before = server.got().len();
    let run = run_with(&server, &batch);
    assert!(run.code == 0 && run.stderr.contains("no model is asked about the runs"), "{}", run.stderr);
    assert_eq!(server.got().len(), before);
}

#[test]
fn scans_are_explained_without_names() {
    let server = Server::saying("Look at [KERNEL_1] in [FILE_1].");
    let scan: Value = serde_json::from_str(&run(&["scan", "fixtures/source", "-f", "tier0"]).stdout).unwrap();
    let run = run_with(&server, &["scan", "fixtures/source", "-f", "json", "--prompt", "is /home/me/app fine?"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let answer = document["sections"][0]["notes"][0]["text"].as_str().unwrap();
    assert!(!answer.contains("KERNEL_1") && !answer.contains("FILE_1"), "{answer}");
    let body: Value = serde_json::from_str(&server.got()[0]).unwrap();
    let (system, question) =
        (body["messages"][0]["content"].as_str().unwrap(), body["messages"][1]["content"].as_str().unwrap());
    assert!(system.contains("## Source code") && system.contains("## Compiler") && !system.contains("## Hardware"));
    assert!(question.contains("before any trace") && question.contains("\"patterns\":[{"), "{question}");
    assert!(
        question.contains("[KERNEL_1]") && question.contains("[FILE_1]") && question.contains("is [PATH_"),
        "{question}"
    );
    for kernel in scan["detected_kernels"].as_array().unwrap() {
        for text in [&kernel["name"], &kernel["file"]] {
            let text = text.as_str().unwrap();
            // A kernel that is called as an ordinary word has a token, and the word stays in sentences.
            let name = if text == "reduce" { "\"reduce\"" } else { text };
            assert!(text.len() < 6 || !question.contains(name), "{text}: {question}");
        }
    }
    assert!(!question.contains("fixtures/source") && !question.contains("\"code\""), "{question}");
    assert!(question.contains("\"model\":\"PyTorch_HIP\""), "{question}");
    let code = run_with(&server, &["scan", "fixtures/source", "-f", "text", "--llm-share", "source"]);
    assert!(server.got()[1].contains("code") && code.stdout.contains("Answer of the model"), "{}", code.stdout);
    let run = run_with(&server, &["scan", "fixtures/source", "-f", "tier0"]);
    assert!(
        run.code == 0 && run.stderr.contains("no place for an answer") && server.got().len() == 2,
        "{}",
        run.stderr
    );
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), scan);
}

#[test]
fn the_spelling_of_rocinsight_is_taken() {
    let server = Server::saying("Idle.");
    let arguments = ["analyze", "fixtures/two_nodes", "-f", "json", "--llm-url", &server.url, "--llm-local"];
    let answered = run(&[&arguments[..], &["ollama", "--llm-local-model", "m"]].concat());
    assert_eq!(answered.code, 0, "{}", answered.stderr);
    assert_eq!(serde_json::from_str::<Value>(&server.got()[0]).unwrap()["model"], json!("m"));
    let refused = run(&[&arguments[..], &["mistral"]].concat());
    assert!(refused.code == 2 && refused.stderr.contains("ollama"), "{}", refused.stderr);
}

/// `ask` continues a conversation as analyses do, and the steps of earlier questions are not sent again.
#[test]
fn a_second_question_in_words_continues_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("talk.json");
    let server = Server::saying("[KERNEL_1] is slow.");
    for (place, question) in ["why is it slow?", "and the rest?"].into_iter().enumerate() {
        let run =
            run_with(&server, &["ask", question, "fixtures/two_nodes", "--llm-conversation", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let messages = sent(&server, place);
        assert_eq!(messages.len(), 1 + 2 * place, "{messages:?}");
        assert_eq!(messages[0], "why is it slow?");
        assert_eq!(messages.last().unwrap(), question);
    }
    assert_eq!(read(&path)["turn_count"].as_u64(), Some(2));
}
