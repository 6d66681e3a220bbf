//! How the program behaves in a terminal and in scripts.

use std::io::pipe;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cases::every;
use crate::common::{finish, program, run, succeed};
use crate::skipping::has_tools;
use crate::verbs::{WRITERS, Writer, with};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

/// A command line of every verb, and of help in all its forms.
const COMMANDS: &[&[&str]] = &[
    &["info", "fixtures/two_nodes"],
    &["info", "fixtures/two_nodes", "-f", "json"],
    &["check", "fixtures/hostile"],
    &["table", "--list"],
    &["table", "kernel_summary", "fixtures/two_nodes"],
    &["table", "kernel_summary", "fixtures/two_nodes", "-f", "csv"],
    &["table", "kernel_summary", "fixtures/two_nodes", "-f", "md"],
    &["table", "kernel_summary", "fixtures/two_nodes", "-f", "parquet"],
    &["table", "kernel_summary", "fixtures/two_nodes", "-f", "arrow"],
    &["table", "kernel_summary", "--show-sql"],
    &["sql", "SELECT * FROM regions", "fixtures/two_nodes", "-f", "jsonl"],
    &["plan", "--counters", "SQ_WAVES", "--arch", "gfx942"],
    &["scan", "fixtures/source"],
    &["completions", "bash"],
    &["completions", "zsh"],
    &["man"],
    &["man", "table"],
    &["config", "show"],
    &["schema"],
    &["schema", "queries"],
    &["schema", "verbs"],
    &["licenses"],
    &["--help"],
    &["help", "convert"],
    &["table", "kernel_summary", "--help"],
    &["--version"],
];

#[test]
fn a_reader_that_is_gone_before_the_first_byte_is_no_failure_for_any_verb_and_format() {
    let to_stdout = |writer: &Writer| {
        let (lines, is_report) = (writer.lines("fixtures/merged"), writer.verb == ["report"]);
        let named: &[&str] = if is_report { &["-o", "-"] } else { &[] };
        lines
            .into_iter()
            .map(|line| with(&line, named).into_iter().map(str::to_owned).collect())
            .collect::<Vec<Vec<String>>>()
    };
    let written = WRITERS.iter().flat_map(to_stdout);
    let compatible = ["analyze", "fixtures/merged", "--json-compat", "rocinsight"].map(str::to_owned).to_vec();
    let other = COMMANDS.iter().map(|line| line.iter().map(|word| (*word).to_owned()).collect());
    for arguments in every(3, written.chain([compatible]).chain(other)) {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = program(&with(&arguments, &[]));
        let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Messages about the input have nothing to do with the pipe.
        assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{arguments:?}: {stderr}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    }
}

#[test]
fn nobody_reading_the_messages_is_no_failure_either() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = directory.path().join("dataset");
    let convert = ["convert", "fixtures/two_nodes", "-v", "-o", dataset.to_str().unwrap()];
    for (arguments, code) in [(&convert[..], 0), (&["tabel"], 2), (&["info", "no/such/file"], 2)] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let status = program(arguments).stdout(Stdio::null()).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn completions_know_verbs_options_values_and_queries() {
    for shell in SHELLS {
        let script = succeed(&["completions", shell]);
        for word in ["convert", "rank-from", "kernel_summary", "show-sql", "top"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // Elvish and PowerShell do not complete values.
        if !matches!(shell, "elvish" | "powershell") {
            assert!(script.contains("jsonl"), "{shell}");
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("wavesieve.bash");
    std::fs::write(&script, succeed(&["completions", "bash"])).unwrap();
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
    let words = "COMP_WORDS=(wavesieve tab); COMP_CWORD=1; _wavesieve wavesieve tab; echo \"${COMPREPLY[@]}\"";
    let completed = Command::new("bash").arg("-c").arg(format!("source {}; {words}", script.display())).output();
    assert_eq!(String::from_utf8(completed.unwrap().stdout).unwrap().trim(), "table");
}

#[test]
fn completions_know_queries_of_the_user() {
    let directory = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries/kernels/kernel_summary.sql");
    std::fs::copy(source, directory.path().join("my_own.sql")).unwrap();
    let script = succeed(&["completions", "fish", "--queries", directory.path().to_str().unwrap()]);
    assert!(script.contains("my_own"));
}

#[test]
fn manual_pages() {
    let directory = tempfile::tempdir().unwrap();
    let has_groff = has_tools(&["groff"]);
    succeed(&["man", "--output", directory.path().to_str().unwrap()]);
    for verb in ["", "-info", "-check", "-table", "-table-kernel_summary", "-sql", "-convert", "-config-show"] {
        let file = directory.path().join(format!("wavesieve{verb}.1"));
        let page = std::fs::read_to_string(&file).unwrap();
        for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH EXAMPLES", "\nwavesieve "] {
            assert!(page.contains(part), "{verb}: {part}");
        }
        for request in page.lines().filter(|line| line.starts_with('.')) {
            let name = request.split(' ').next().unwrap();
            let known = [".ie", ".el", ".TH", ".SH", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi", ".br", ".IP"];
            assert!(known.contains(&name), "{verb}: {request}");
        }
        // groff complains of what it does not understand.
        if has_groff {
            let groff = Command::new("groff").args(["-man", "-ww", "-z"]).arg(&file).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&groff.stderr), "", "{verb}");
            assert!(groff.status.success(), "{verb}: {}", groff.status);
        }
    }
    assert_eq!(succeed(&["man"]), std::fs::read_to_string(directory.path().join("wavesieve.1")).unwrap());
    let wrong = run(&["man", "table", "kernel_sumary"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean kernel_summary?"), "{}", wrong.stderr);
}

#[test]
fn wrong_names_are_answered_with_the_closest() {
    let sql = |statement| ["sql", statement, "fixtures/two_nodes"];
    for (arguments, expected) in [
        (&["tabel"][..], "'table'"),
        (&["info", "--formt", "csv"], "'--format'"),
        (&["table", "kernel_details", "--tpo", "3"], "'--top'"),
        (&["table", "kernel_sumary"], "a similar subcommand exists: 'kernel_summary'"),
        (&["info", "fixtures/two_nodes", "-f", "jsn"], "'json'"),
        (&["completions", "bsh"], "'bash'"),
        (&sql("SELECT nam FROM kernels"), "no column is named nam in kernels (did you mean kernel_name?)"),
        (&sql("SELECT k.nam FROM kernels AS k"), "no column is named nam in kernels (did you mean kernel_name?)"),
        (&sql("SELECT SUM(duraton_ns) FROM regions"), "(did you mean duration_ns?)"),
        (&sql("SELECT rank FROM kernels ORDER BY strt_ns"), "(did you mean start_ns?)"),
        (
            &sql("SELECT lds_bytes FROM regions"),
            "no column is named lds_bytes in regions (it is one of agents, kernels",
        ),
        (&sql("SELECT * FROM kernel"), "no table is named kernel (did you mean kernels?)"),
        (&sql("SELECT * FROM memcopies"), "(did you mean memory_copies?)"),
        (&sql("SELECT x.rank FROM kernels AS k"), "no table is named x;"),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_negative_count_of_rows_is_refused() {
    let run = run(&["table", "kernel_details", "fixtures/two_nodes", "--top", "-1"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("'--top <N>': it cannot be negative"), "{}", run.stderr);
}

#[test]
fn colours() {
    let colored = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = program(arguments);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE").env_remove("CI");
        let run = finish({
            command.envs(environment.iter().copied());
            command
        });
        run.stdout.contains('\u{1b}') || run.stderr.contains('\u{1b}')
    };
    let table: &[&str] = &["table", "--list"];
    for arguments in [table, &["--help"], &["table", "--help"], &["tabel"], &["info", "--formt"]] {
        let with = |color: &str| colored(&[arguments, &["--color", color]].concat(), &[("CLICOLOR_FORCE", "1")]);
        assert!(!colored(arguments, &[]), "{arguments:?}: no terminal");
        assert!(colored(arguments, &[("CLICOLOR_FORCE", "1")]), "{arguments:?}: forced");
        assert!(!colored(arguments, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{arguments:?}: NO_COLOR");
        assert!(colored(arguments, &[("NO_COLOR", ""), ("CLICOLOR_FORCE", "1")]), "{arguments:?}: an empty NO_COLOR");
        assert!(!colored(arguments, &[("TERM", "dumb")]), "{arguments:?}: a dumb terminal");
        assert!(!with("never"), "{arguments:?}: --color never");
        assert!(with("always"), "{arguments:?}: --color always");
        let always = [arguments, &["--color=always"]].concat();
        assert!(colored(&always, &[("NO_COLOR", "1"), ("TERM", "dumb")]), "{arguments:?}: --color outdoes NO_COLOR");
        assert!(
            !colored(arguments, &[("CLICOLOR_FORCE", "1"), ("WAVESIEVE_COLOR", "never")]),
            "{arguments:?}: setting"
        );
    }
}

#[test]
fn the_main_help_lists_every_verb_by_task() {
    let help = succeed(&["--help"]);
    let listed: Vec<&str> = ["Inspect:", "Export:", "Setup:"]
        .iter()
        .flat_map(|title| help.split(title).nth(1).unwrap().lines().skip(1).take_while(|line| line.starts_with("  ")))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    let verbs = ["info", "check", "table", "sql", "convert", "completions", "man", "config", "schema"];
    assert!(verbs.iter().all(|verb| listed.contains(verb)), "{listed:?}");
    assert!(!help.contains("More:"), "every verb has a task");
}

#[test]
fn help_begins_with_what_people_need() {
    let short = succeed(&["analyze", "-h"]);
    assert!(short.lines().count() <= 50 && !short.contains("--mail-to") && short.contains("--output"), "{short}");
    let long = succeed(&["analyze", "--help"]);
    let headings: Vec<&str> = long.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    let mut expected =
        vec!["Arguments:", "Options:", "Input:", "Output:", "Analysis:", "Filters:", "Reading:", "Common:"];
    expected.extend(["Compatibility:", "Session:", "Mail:", "Language models:", "Examples:"]);
    assert_eq!(headings, expected);
    assert!(!succeed(&["trim", "--help"]).contains("--mail-to"), "it writes no document");
}

#[test]
fn convert_says_one_line_where_there_is_no_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let converted = |name: &str, more: &[&str]| {
        let dataset = directory.path().join(name);
        let run = run(&[&["convert", "fixtures/two_nodes", "-o", dataset.to_str().unwrap()], more].concat());
        assert_eq!((run.code, run.stdout.as_str()), (0, ""));
        run.stderr
    };
    let said = converted("usual", &[]);
    assert!(said.lines().count() == 1 && said.starts_with("wrote "), "{said}");
    assert_eq!(converted("quiet", &["-q"]), "");
}

#[test]
fn details_go_to_standard_error_and_change_nothing() {
    let usual = run(&["table", "kernel_summary", "fixtures/two_nodes"]);
    let detailed = run(&["table", "kernel_summary", "fixtures/two_nodes", "-v"]);
    assert_eq!((detailed.code, &detailed.stdout), (0, &usual.stdout));
    for part in ["node0/4100_results.db: rocpd 3.0.0, rank 0: ", "kernels 72", " s] done"] {
        assert!(detailed.stderr.contains(part), "{part}: {}", detailed.stderr);
    }
    assert_eq!(run(&["info", "fixtures/two_nodes", "-v", "-q"]).code, 2);
}

#[test]
fn text_functions_take_dictionaries() {
    for sql in [
        "SELECT COUNT(*) AS n FROM kernels WHERE UPPER(category) = 'COMMUNICATION'",
        "SELECT COUNT(*) AS n FROM kernels WHERE kernel_name LIKE '%nccl%'",
    ] {
        assert_eq!(succeed(&["sql", sql, "fixtures/two_nodes", "-f", "csv"]), "n\n24\n");
    }
}

#[test]
fn an_engine_that_gives_up_is_an_error() {
    let answer = run(&["sql", "SELECT GREATEST() FROM kernels", "fixtures/two_nodes"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.starts_with("error: cannot run the statement: the engine gave up"), "{}", answer.stderr);
    assert!(!answer.stderr.contains("panicked"), "{}", answer.stderr);
}
