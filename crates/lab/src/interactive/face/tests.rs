//! Promises of the user interface.

use std::io::{self, Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use super::answers::Answers;
use super::events::Events;
use super::interruptions::Interruptions;
use super::lines::Lines;
use super::screen::Screen;
use super::*;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

/// A reader that is closed.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Scene {
    console: Console,
    screen: Written,
    events: Written,
}

fn scene(input: Option<&'static str>, answers: Option<&str>, is_yes: bool) -> Scene {
    let (screen, events) = (Written::default(), Written::default());
    let console = Console {
        screen: Screen::to(Box::new(screen.clone()), Some(60), false, false),
        events: Some(Events::to(Box::new(events.clone()))),
        answers: answers.map(|text| Answers::new(Path::new("a.txt"), text)),
        lines: input.map(|text| Lines::new(move || Cursor::new(text))),
        is_yes,
        is_typed: false,
        interruptions: Interruptions::default(),
    };
    Scene { console, screen, events }
}

fn menu() -> Question {
    let choices = vec![Choice::new("p", "profile"), Choice::new("q", "quit")];
    Question { id: "menu", text: "Next?".to_owned(), choices, default: Some("q".to_owned()), is_long: false }
}

fn open(id: &'static str, is_long: bool) -> Question {
    Question { id, text: "Path".to_owned(), is_long, ..Question::default() }
}

fn line(text: &str) -> Reply {
    Reply::Line(text.to_owned())
}

/// Fact 37, as much of it as the console decides: a line, the default, the end of the input.
#[test]
fn a_pipe_answers_until_it_ends() {
    let Scene { mut console, screen, events } = scene(Some(" p \n\nx\n"), None, false);
    assert_eq!(console.ask(&menu()).unwrap(), line("p"));
    assert_eq!(console.ask(&menu()).unwrap(), line("q"), "an empty line is the default");
    assert_eq!(console.ask(&open("path", false)).unwrap(), line("x"));
    assert_eq!(console.ask(&menu()).unwrap(), Reply::End, "the end is not the default");
    let prompt = "Next? [p] profile, [q] quit (Enter: q): ";
    assert_eq!(screen.text(), format!("{prompt}p\n{prompt}q\nPath: x\n{prompt}(no answer)\n"));
    let events: Vec<Value> = events.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 8);
    assert_eq!(
        (&events[0]["event"], &events[0]["id"], &events[0]["default"]),
        (&"question".into(), &"menu".into(), &"q".into())
    );
    assert_eq!(events[0]["choices"][1]["key"], "q");
    assert_eq!(
        (&events[1]["event"], &events[1]["answer"], &events[1]["how"]),
        (&"answer".into(), &"p".into(), &"answered".into())
    );
    assert_eq!((&events[7]["answer"], &events[7]["how"]), (&Value::Null, &"end".into()));
}

#[test]
fn defaults_answer_where_that_is_wanted() {
    let mut console = scene(None, None, true).console;
    assert_eq!(console.ask(&menu()).unwrap(), line("q"));
    assert_eq!(console.ask(&open("path", false)).unwrap(), Reply::End);
    let mut console = scene(None, Some("p"), true).console;
    assert_eq!(console.ask(&menu()).unwrap(), line("p"));
    assert_eq!(console.ask(&menu()).unwrap(), line("q"), "after the end of the file");
    let mut console = scene(None, Some("menu:\n"), false).console;
    assert_eq!(console.ask(&menu()).unwrap(), line("q"), "an empty answer");
    assert_eq!(console.ask(&menu()).unwrap(), Reply::End);
}

#[test]
fn an_answer_to_another_question_is_an_error() {
    let Scene { mut console, screen, .. } = scene(None, Some("\nconfirm: y\n"), true);
    let error = console.ask(&menu()).unwrap_err();
    assert!(matches!(&error, FaceError::OtherQuestion { line: 2, given, asked: "menu", .. } if given == "confirm"));
    assert!(screen.text().ends_with(": \n"), "the message begins on its own line");
    assert_eq!(console.ask(&Question { id: "confirm", ..menu() }).unwrap(), line("y"), "it is still there");
}

#[test]
fn long_answers_have_lines() {
    let Scene { mut console, screen, .. } = scene(Some("a.hip:1: error\n  ^\n\nq\nlast"), None, false);
    assert_eq!(console.ask(&open("failure", true)).unwrap(), line("a.hip:1: error\n  ^"));
    assert_eq!(console.ask(&menu()).unwrap(), line("q"));
    assert_eq!(console.ask(&open("failure", true)).unwrap(), line("last"), "the end of the input ends it");
    assert_eq!(console.ask(&open("failure", true)).unwrap(), Reply::End);
    assert!(
        screen.text().starts_with("Path (end with an empty line): \n  a.hip:1: error\n    ^\n"),
        "{}",
        screen.text()
    );
    let mut console = scene(Some("\n"), None, false).console;
    assert_eq!(console.ask(&open("failure", true)).unwrap(), line(""));
}

#[test]
fn an_interruption_answers_every_question_until_it_is_forgiven() {
    let Scene { mut console, events, .. } = scene(Some("p\n"), None, false);
    console.interruptions.press();
    assert!(console.is_interrupted() && console.interruption()());
    assert_eq!(console.ask(&menu()).unwrap(), Reply::Interrupted);
    assert_eq!(console.ask(&menu()).unwrap(), Reply::Interrupted);
    console.forgive();
    assert_eq!(console.ask(&menu()).unwrap(), line("p"), "no answer is lost");
    assert!(events.text().contains("\"how\":\"interrupted\""));
    let mut console = scene(None, Some("p"), true).console;
    console.interruptions.press();
    assert_eq!(console.ask(&menu()).unwrap(), Reply::Interrupted);
}

#[test]
fn texts_are_plain_lines() {
    let Scene { mut console, screen, .. } = scene(None, None, true);
    console.say(Level::Heading, "Findings");
    console.say(Level::Warning, "kernel \u{1b}[2Jevil\nsecond");
    console.say(Level::Text, "a sentence that is longer than the sixty columns of this terminal");
    console.begin("running ./app");
    console.output("\u{1b}[31mred\u{1b}[0m\r");
    console.end();
    console.diff("+a\n");
    console.table(&["a", "b"], &[vec!["x".to_owned(), "1".to_owned()]]);
    let expected = "\nFindings\nwarning: kernel ␛[2Jevil\nsecond\n\
        a sentence that is longer than the sixty columns of this\n  terminal\n\
        running ./app …\n  | red\n+a\na  b\nx  1\n";
    assert_eq!(screen.text(), expected);
}

#[test]
fn colours_are_there_where_they_are_wanted() {
    let screen = Written::default();
    let mut colored = Screen::to(Box::new(screen.clone()), None, true, false);
    colored.say(Level::Error, "no");
    colored.diff("-a");
    assert_eq!(screen.text(), "\u{1b}[31merror: no\u{1b}[0m\n\u{1b}[31m-a\u{1b}[0m\n");
}

#[test]
fn a_quiet_one_shows_errors_alone() {
    let screen = Written::default();
    let mut quiet = Screen::to(Box::new(screen.clone()), None, false, true);
    quiet.say(Level::Heading, "x");
    quiet.output("x");
    quiet.table(&["x"], &[]);
    quiet.begin("x");
    quiet.say(Level::Error, "no");
    assert_eq!(screen.text(), "error: no\n");
}

#[test]
fn nobody_is_asked_who_went_away() {
    let mut console = scene(Some("p\n"), None, false).console;
    console.screen = Screen::to(Box::new(Closed), None, false, false);
    console.say(Level::Text, "x");
    assert!(matches!(console.ask(&menu()), Err(FaceError::Output(_))));
}

#[test]
fn events_that_cannot_be_written_do_not_stop_the_work() {
    let Scene { mut console, screen, .. } = scene(Some("p\n"), None, false);
    console.events = Some(Events::to(Box::new(Closed)));
    assert_eq!(console.ask(&menu()).unwrap(), line("p"));
    assert_eq!(screen.text().matches("cannot write events").count(), 1);
}
