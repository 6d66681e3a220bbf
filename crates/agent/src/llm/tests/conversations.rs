//! Questions that build on one another: facts 23, 25 to 29 and 34.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::protocols::{Parts, gate};
use super::server::{Answer, Server};
use crate::llm::chain::{Listener, ask_chain};
use crate::llm::conversation::{Conversation, Turn, parts, summary};
use crate::llm::environment::Variables;
use crate::llm::error::LlmError;
use crate::llm::gate::{Gate, GateOptions};
use crate::llm::payload::Share;
use crate::llm::redaction::{Redactor, Rules, TokenMap};
use crate::llm::request::{Message, Request, Role};
use crate::llm::settings::{Endpoint, LlmOptions, endpoints};

fn answer(text: &str) -> Answer {
    Answer::json(&json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))
}

fn endpoints_of(server: &Server, provider: &str) -> Vec<Endpoint> {
    let variables = Variables::of_pairs(&[("ANTHROPIC_API_KEY", "sk-ant-x"), ("OPENAI_API_KEY", "sk-secret-key")]);
    let options =
        LlmOptions { providers: vec![provider.to_owned()], url: Some(server.url.clone()), ..LlmOptions::default() };
    endpoints(&options, &variables).unwrap().0
}

/// Asks the next question in the way that commands do.
fn send(
    conversation: &mut Conversation,
    (gate, endpoints, listener): (&Gate, &[Endpoint], &dyn Listener),
    question: &str,
) -> Result<(String, Vec<String>), LlmError> {
    let mut messages = conversation.messages();
    messages.push(Message { role: Role::User, text: question.to_owned() });
    let request = Request { system: "be brief".to_owned(), messages, ..Request::default() };
    let reply = ask_chain(gate, endpoints, &request, listener)?;
    let turn = Turn {
        question: gate.remembered(question),
        answer: gate.remembered(&reply.text),
        time: Some("2026-01-31T12:00:00Z".to_owned()),
        ..Turn::default()
    };
    let warnings =
        conversation.answered(turn, &mut |old| Ok(gate.remembered(&summary(gate, endpoints, listener, old)?.text)));
    Ok((reply.text, warnings))
}

/// A conversation from a changed JSON file.
fn with(path: &Path, change: impl FnOnce(&mut Value)) -> Conversation {
    let mut conversation = Conversation::open(path, None).unwrap();
    conversation.save().unwrap();
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
    Conversation::open(path, None).unwrap()
}

fn contents(messages: &Value) -> Vec<String> {
    messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// Fact 23.
#[test]
fn a_conversation_keeps_what_was_said() {
    let stream = Answer::events(&[
        r#"{"type":"content_block_delta","delta":{"text":"Hello "}}"#,
        r#"{"type":"content_block_delta","delta":{"text":"world"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let server = Server::new(vec![stream.clone(), Answer::status(400, "{}"), stream]);
    let (gate, endpoints, heard) = (gate(), endpoints_of(&server, "anthropic"), Parts::default());
    let mut conversation = Conversation::new();
    let (text, _) = send(&mut conversation, (&gate, &endpoints, &heard), "one").unwrap();
    assert_eq!((text.as_str(), heard.0.borrow().len()), ("Hello world", 2));
    assert_eq!((conversation.messages().len(), conversation.turns), (2, 1));
    // An unanswered question does not count.
    send(&mut conversation, (&gate, &endpoints, &()), "lost").unwrap_err();
    assert_eq!((conversation.messages().len(), conversation.turns), (2, 1));
    send(&mut conversation, (&gate, &endpoints, &()), "two").unwrap();
    assert_eq!((conversation.messages().len(), conversation.turns), (4, 2));
    assert!(conversation.messages().iter().all(|message| !message.text.contains("brief")));
    let got = server.got()[2].json();
    assert_eq!(contents(&got["messages"]), ["one", "Hello world", "two"]);
    let roles: Vec<&Value> = got["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

/// Fact 25: with compact_every 2, one summary follows the second answer, if there is more than the turns that stay.
#[test]
fn summaries_come_when_it_is_time() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::new(vec![answer("a1"), answer("a2"), answer("short"), answer("a3")]);
    let (gate, endpoints) = (gate(), endpoints_of(&server, "openai"));
    let mut conversation = with(&directory.path().join("talk.json"), |value| {
        value["compact_every"] = json!(2);
        value["keep_recent_turns"] = json!(1);
    });
    send(&mut conversation, (&gate, &endpoints, &()), "q1").unwrap();
    assert_eq!(server.got().len(), 1);
    send(&mut conversation, (&gate, &endpoints, &()), "q2").unwrap();
    assert_eq!((server.got().len(), conversation.turns), (3, 2));
    let asked = server.got()[2].json();
    assert_eq!(asked["max_completion_tokens"], 600);
    assert_eq!((asked.get("stream"), asked["messages"].as_array().unwrap().len()), (None, 3));
    let last = contents(&asked["messages"]).pop().unwrap();
    assert!(last.contains("300 words"), "{last}");
    send(&mut conversation, (&gate, &endpoints, &()), "q3").unwrap();
    assert_eq!(contents(&server.got()[3].json()["messages"]).len(), 6, "system text, summary, and one turn");
    // Nothing is old, so there is nothing to summarize.
    let server = Server::new(vec![answer("a")]);
    let endpoints = endpoints_of(&server, "openai");
    let mut conversation = with(&directory.path().join("other.json"), |value| value["compact_every"] = json!(1));
    send(&mut conversation, (&gate, &endpoints, &()), "q1").unwrap();
    assert_eq!((server.got().len(), conversation.messages().len()), (1, 2));
}

/// Facts 26 and 27: the content after a summary, no change after a failed one, and each turn once in the history.
#[test]
fn a_summary_takes_the_place_of_old_turns_and_the_history_has_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/er/talk.json");
    let broken = Answer::status(400, "{}");
    let server = Server::new(vec![answer("a1"), broken, answer("a2"), answer("a3")]);
    let (gate, endpoints) = (gate(), endpoints_of(&server, "openai"));
    let mut conversation = with(&path, |value| {
        value["compact_every"] = json!(3);
        value["keep_recent_turns"] = json!(1);
    });
    send(&mut conversation, (&gate, &endpoints, &()), "q1").unwrap();
    send(&mut conversation, (&gate, &endpoints, &()), "never").unwrap_err();
    send(&mut conversation, (&gate, &endpoints, &()), "q2").unwrap();
    let server = Server::new(vec![answer("a3"), Answer::status(400, "{}")]);
    let (_, warnings) = send(&mut conversation, (&gate, &endpoints_of(&server, "openai"), &()), "q3").unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("status 400"), "{warnings:?}");
    let shown = |conversation: &Conversation| {
        conversation.messages().into_iter().map(|message| message.text).collect::<Vec<String>>()
    };
    assert_eq!(shown(&conversation), ["q1", "a1", "q2", "a2", "q3", "a3"]);
    conversation.save().unwrap();
    // The next run tries again, and summarizes the turns that are old by then.
    let server = Server::new(vec![answer("a4"), answer("all about it")]);
    let mut conversation = Conversation::open(&path, Some(1)).unwrap();
    let (_, warnings) = send(&mut conversation, (&gate, &endpoints_of(&server, "openai"), &()), "q4").unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let messages = shown(&conversation);
    assert!(messages[0].starts_with("Summarize") && messages[1] == "[Session summary] all about it", "{messages:?}");
    assert_eq!((&messages[2..], conversation.turns), (&["q4".to_owned(), "a4".to_owned()][..], 4));
    let history = fs::read_to_string(path.with_file_name("talk_history.jsonl")).unwrap();
    let lines: Vec<Value> = history.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all: Vec<(&str, u64)> =
        lines.iter().map(|line| (line["content"].as_str().unwrap(), line["turn"].as_u64().unwrap())).collect();
    let expected = [("q1", 1), ("a1", 1), ("q2", 2), ("a2", 2), ("q3", 3), ("a3", 3), ("q4", 4), ("a4", 4)];
    assert_eq!(all, expected);
    assert!(lines.iter().all(|line| line["ts"] == "2026-01-31T12:00:00Z" && line["role"].is_string()));
}

/// Fact 28.
#[test]
fn without_a_file_nothing_is_written() {
    let mut conversation = Conversation::new();
    assert_eq!(conversation.history(), None);
    let turn = Turn::default();
    assert!(conversation.answered(turn, &mut |_| panic!("nothing to sum up")).is_empty());
    conversation.save().unwrap();
}

/// Fact 29.
#[test]
fn a_file_brings_everything_back_but_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("talk.json");
    let server = Server::new(vec![answer("fine")]);
    let (gate, endpoints) = (gate(), endpoints_of(&server, "openai:gpt-x"));
    let mut conversation = with(&path, |value| {
        value["compact_every"] = json!(5);
        value["keep_recent_turns"] = json!(3);
    });
    send(&mut conversation, (&gate, &endpoints, &()), "why? api_key=sk-secret-key").unwrap();
    conversation.held_with("openai", "gpt-x", Share::Figures);
    conversation.save().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for word in ["sk-secret-key", "be brief", "\"api_key\""] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let back = Conversation::open(&path, None).unwrap();
    assert_eq!(back.messages(), conversation.messages());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&value["compact_every"], &value["keep_recent_turns"], &value["turn_count"]),
        (&json!(5), &json!(3), &json!(1))
    );
    assert_eq!((back.provider.as_str(), back.model.as_str(), back.turns), ("openai", "gpt-x", 1));
    // The model comes from the conversation, unless another one is named.
    let model = |providers: &str, model: Option<&str>| {
        let mut options = LlmOptions {
            providers: vec![providers.to_owned()],
            model: model.map(ToOwned::to_owned),
            ..LlmOptions::default()
        };
        options.prefer_model(&back.provider, &back.model);
        endpoints_with(&options)
    };
    assert_eq!(model("openai", None), "gpt-x");
    assert_eq!(model("openai", Some("gpt-y")), "gpt-y");
    assert_eq!(model("openai:gpt-z", None), "gpt-z");
    assert_eq!(model("local", None), "codellama:13b");
    #[cfg(unix)]
    for file in [&path, &path.with_file_name("talk_history.jsonl")] {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

fn endpoints_with(options: &LlmOptions) -> String {
    let variables = Variables::of_pairs(&[("OPENAI_API_KEY", "sk-x")]);
    endpoints(options, &variables).unwrap().0[0].model.clone()
}

#[test]
fn what_is_no_conversation_is_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("talk.json");
    Conversation::open(&path, None).unwrap().save().unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let changed = |from: &str, to: &str| {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        text
    };
    for (text, expected) in [
        ("# notes\n".to_owned(), "not a conversation of wavesieve"),
        ("{\"name\": \"package\"}".to_owned(), "not a conversation of wavesieve"),
        ("[]".to_owned(), "not a conversation of wavesieve"),
        (good.chars().take(good.len() / 2).collect(), "damaged"),
        (changed("\"version\": 1", "\"version\": 9"), "version 9"),
        (changed("\"compact_every\": 10", "\"compact_every\": 0"), "at least 1"),
        (changed("\"messages\": []", "\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]"), "by turns"),
        (changed("\"messages\": []", "\"messages\": [{\"role\": \"system\", \"content\": \"x\"}]"), "damaged"),
        (changed("talk_history.jsonl", "../../.bashrc"), "history_path"),
        (changed("\"share\": \"figures\"", "\"share\": \"all\""), "not a level"),
    ] {
        fs::write(&path, &text).unwrap();
        let error = Conversation::open(&path, None).unwrap_err();
        let shown = error.to_string();
        assert!(matches!(error, LlmError::Usage(_)) && shown.contains(expected), "{text}: {shown}");
        assert!(shown.contains("--llm-conversation") && shown.contains("talk.json"), "{shown}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert!(Conversation::open(directory.path(), None).unwrap_err().to_string().contains("not a file"));
    // Another program added a turn meanwhile.
    fs::write(&path, &good).unwrap();
    let (mut one, mut other) = (Conversation::open(&path, None).unwrap(), Conversation::open(&path, None).unwrap());
    one.held_with("local", "x", Share::Figures);
    one.save().unwrap();
    one.save().unwrap();
    assert!(other.save().unwrap_err().to_string().contains("another program"));
}

/// Fact 34.
#[test]
fn what_was_shared_is_not_sent_again() {
    let data = |files: &[(&str, &str)]| {
        let kernels: Vec<Value> = files.iter().map(|(file, code)| json!({"file": file, "code": code})).collect();
        parts(json!({"figures": [1], "source": {"model": "hip", "kernels": kernels}}))
    };
    let mut conversation = Conversation::new();
    let mut ask = |files: &[(&str, &str)]| {
        let (messages, shared) = conversation.with_question("why?", &data(files), 1, &ToOwned::to_owned).unwrap();
        let turn = Turn { question: gate().remembered("why?"), shared, ..Turn::default() };
        conversation.answered(turn, &mut |_| panic!("too early"));
        messages.into_iter().map(|message| message.text).collect::<Vec<String>>()
    };
    let first = ask(&[("a.hip", "AAA"), ("b.hip", "BBB")]);
    assert!(first[0].contains("figures") && first[0].contains("AAA") && first[0].contains("BBB"), "{first:?}");
    assert!(!first[0].contains("lready"), "{first:?}");
    let second = ask(&[("a.hip", "AAA"), ("b.hip", "BBB")]);
    // The first message stays the same, so that a cache of the provider recognizes it.
    let body = |text: &str| text.split("Answer the question").next().unwrap().trim().to_owned();
    assert_eq!(body(&second[0]), body(&first[0]));
    assert!(!second[2].contains("figures") && !second[2].contains("AAA"), "{second:?}");
    assert!(second[2].contains("Already shared above and unchanged: the data, a.hip, b.hip."), "{second:?}");
    let third = ask(&[("a.hip", "AAA"), ("b.hip", "BBB"), ("c.hip", "CCC")]);
    assert!(third[4].contains("CCC") && !third[4].contains("AAA") && !third[4].contains("figures"), "{third:?}");
    // A changed file is sent again, and its old code is gone.
    let fourth = ask(&[("a.hip", "ANEW"), ("b.hip", "BBB"), ("c.hip", "CCC")]);
    assert!(!fourth[0].contains("AAA") && fourth[0].contains("BBB") && fourth[0].contains("left out"), "{fourth:?}");
    assert!(fourth[6].contains("ANEW") && !fourth[6].contains("BBB"), "{fourth:?}");
    assert_eq!(fourth.join("\n").matches("BBB").count(), 1);
}

/// Stored texts have real names, which are recognized again with another trace.
#[test]
fn names_are_kept_and_taken_out_again() {
    let redactor = || Redactor::new(Rules::new(Share::Figures, None).unwrap(), TokenMap::default());
    let mut map = TokenMap::default();
    let token = map.name("KERNEL", "void lab::lab_mm<float>(int)");
    map.alias("lab_mm", &token);
    map.name("TEXT", "ab");
    map.name("KERNEL", "conv2d_fwd");
    let first = Gate::new(GateOptions::default(), Redactor::new(Rules::new(Share::Figures, None).unwrap(), map));
    let question = first.remembered("is lab_mm slow in /scratch/falcon? password: hunter22");
    assert_eq!(question.text, "is void lab::lab_mm<float>(int) slow in /scratch/falcon? password: [SECRET_1]");
    let plain = first.remembered("is lab_mm slow?");
    assert_eq!(plain.text, "is lab_mm slow?");
    // Texts that would not be recognized again stay tokens.
    assert_eq!(first.remembered("KERNEL_1 and [TEXT_1]").text, "[KERNEL_1] and [TEXT_1]");
    assert_eq!(first.remembered("two [KERNEL_2]s").text, "two [KERNEL_2]s");
    let answer = first.remembered("KERNEL_1 is slow, [KERNEL_9] is not");
    assert_eq!(answer.text, "void lab::lab_mm<float>(int) is slow, [KERNEL_9] is not");
    let mut second = redactor();
    second.learn(&question.names);
    second.learn(&plain.names);
    for text in [&question.text, &plain.text, &answer.text] {
        let sent = String::from_utf8(second.bytes(json!({ "content": text }).to_string().as_bytes())).unwrap();
        assert!(!sent.contains("lab_mm") && !sent.contains("falcon") && !sent.contains("hunter"), "{sent}");
    }
}
