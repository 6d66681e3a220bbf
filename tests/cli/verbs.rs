//! Every verb in every format, as its help lists them: what holds for a class of outputs is tested with all of it.

use crate::common::{run, succeed};

/// A command that writes an answer or a document: the words that choose its help, and the rest of a command line.
pub struct Writer {
    pub verb: &'static [&'static str],
    rest: &'static [&'static str],
}

/// All of them.
pub const WRITERS: &[Writer] = &[
    Writer { verb: &["table"], rest: &["--list"] },
    Writer { verb: &["table", "kernel_summary"], rest: &["INPUT"] },
    Writer { verb: &["sql"], rest: &["SELECT * FROM kernels", "INPUT"] },
    Writer { verb: &["info"], rest: &["INPUT"] },
    Writer { verb: &["check"], rest: &["INPUT"] },
    Writer { verb: &["config", "show"], rest: &[] },
    Writer { verb: &["plan"], rest: &["--metrics-of", "sol.wavefront_occupancy", "--arch", "gfx942"] },
    Writer { verb: &["scan"], rest: &["fixtures/source"] },
    Writer { verb: &["analyze"], rest: &["INPUT"] },
    Writer { verb: &["ask"], rest: &["which kernel takes most time", "INPUT"] },
    Writer { verb: &["report"], rest: &["INPUT"] },
    Writer { verb: &["compare"], rest: &["INPUT", "INPUT"] },
];

/// Verbs that write folders or nothing but texts, and those of loops, which have tests of their own.
const OTHERS: [&str; 15] = [
    "lab",
    "convert",
    "trim",
    "merge",
    "package",
    "interactive",
    "workflow",
    "sessions",
    "mcp",
    "view",
    "completions",
    "man",
    "schema",
    "licenses",
    "help",
];

impl Writer {
    /// The command line for an input.
    pub fn words(&self, input: &str) -> Vec<String> {
        let words = self.verb.iter().chain(self.rest);
        words.map(|word| if *word == "INPUT" { input.to_owned() } else { (*word).to_owned() }).collect()
    }

    /// The formats that its help lists.
    pub fn formats(&self) -> Vec<String> {
        let help = help(&[self.verb, &["-h"]].concat());
        let values = help.split("-f, --format").nth(1).and_then(|rest| rest.split("[possible values: ").nth(1));
        let values = values.unwrap_or_else(|| panic!("{:?} lists no formats: {help}", self.verb));
        values.split(']').next().unwrap().split(", ").map(str::to_owned).collect()
    }

    /// Whether a format is a folder with several files.
    pub fn is_folder(&self, format: &str) -> bool {
        matches!(self.verb, ["analyze" | "ask" | "report" | "compare"]) && matches!(format, "csv" | "parquet")
    }

    /// The command lines with every format that is one file, for an input. PDF is printed by a browser, which need not be there.
    pub fn lines(&self, input: &str) -> Vec<Vec<String>> {
        let formats = self.formats().into_iter().filter(|format| !self.is_folder(format) && format != "pdf");
        formats.map(|format| [self.words(input), vec!["-f".to_owned(), format]].concat()).collect()
    }
}

/// The words of a command line with more of them.
pub fn with<'a>(line: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    line.iter().map(String::as_str).chain(more.iter().copied()).collect()
}

/// Help on one line.
fn help(words: &[&str]) -> String {
    run(words).stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A verb or a format that is added later is tested too.
#[test]
fn every_verb_is_among_those_that_are_tested() {
    let listed = succeed(&["completions", "bash"]);
    // The first list with words is that of the program.
    let lists = listed.split("opts=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let words = |list: &str| -> Vec<String> {
        let words = list.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic));
        words.map(str::to_owned).collect()
    };
    let verbs = lists.map(words).find(|words| !words.is_empty()).unwrap();
    assert!(verbs.iter().any(|verb| verb == "analyze"), "{verbs:?}");
    for verb in verbs {
        let known = WRITERS.iter().any(|writer| writer.verb[0] == verb) || OTHERS.contains(&verb.as_str());
        assert!(known, "{verb} is in none of the lists of this file");
    }
    assert!(WRITERS.iter().all(|writer| writer.formats().len() > 3));
}
