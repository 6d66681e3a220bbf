//! Settings of files and the environment: their order, their sections, their mistakes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Run, finish, program};

/// A project with a directory below it, and a user's configuration.
struct Place {
    root: TempDir,
}

impl Place {
    fn new(project: &str, user: &str) -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("project/below")).unwrap();
        fs::create_dir_all(place.path("user/wavesieve")).unwrap();
        fs::write(place.path("project/wavesieve.toml"), project).unwrap();
        fs::write(place.path("user/wavesieve/config.toml"), user).unwrap();
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
        let mut command = program(arguments);
        command.current_dir(self.path("project/below")).env("XDG_CONFIG_HOME", self.path("user"));
        command.envs(environment.iter().copied());
        finish(command)
    }

    /// Value and origin of a setting of a verb.
    fn setting(&self, verb: &[&str], setting: &str, more: &[&str], environment: &[(&str, &str)]) -> (Value, String) {
        let run = self.run(&[&["config", "show"], verb, &["-f", "json"], more].concat(), environment);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        let row = rows.iter().find(|row| row["setting"] == setting).expect("the setting is shown");
        (row["value"].clone(), row["origin"].as_str().unwrap().to_owned())
    }
}

fn fixture() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/two_nodes").to_string_lossy().into_owned()
}

#[test]
fn the_order_of_precedence() {
    let place = Place::new("threads = 1\nrows = 1\nunit = 'ns'", "threads = 2\nrows = 2");
    let (project, user) = (place.path("project/wavesieve.toml"), place.path("user/wavesieve/config.toml"));
    let (project, user) = (project.display().to_string(), user.display().to_string());
    let environment = [("WAVESIEVE_THREADS", "3")];
    let setting = |name, more: &[&str], environment: &[(&str, &str)]| place.setting(&["info"], name, more, environment);
    assert_eq!(setting("wide", &[], &[]), ("false".into(), "default".to_owned()));
    // Its name before `unit` became the unit of work.
    assert_eq!(setting("time-unit", &[], &[]), ("ns".into(), project));
    assert_eq!(setting("rows", &[], &[]), ("2".into(), user));
    assert_eq!(setting("threads", &[], &environment), ("3".into(), "WAVESIEVE_THREADS".to_owned()));
    assert_eq!(setting("threads", &["--threads", "4"], &environment), ("4".into(), "flag".to_owned()));
}

#[test]
fn a_setting_counts_as_if_given_and_a_flag_overrides_it() {
    let place = Place::new("[table]\nrows = 2\nunit = 'ns'\n[table.kernel_summary]\nby = ['rank', 'gpu']", "");
    let fixture = fixture();
    let table = ["table", "kernel_summary", fixture.as_str()];
    let usual = place.run(&table, &[]);
    assert_eq!(usual.code, 0, "{}", usual.stderr);
    assert!(usual.stdout.contains("--rows 0 shows all") && usual.stdout.contains("total ns"), "{}", usual.stdout);
    assert!(usual.stdout.starts_with("rank  gpu"), "{}", usual.stdout);
    let flags = place.run(&[&table[..], &["--by", "node", "--rows", "0", "--time-unit", "us"]].concat(), &[]);
    assert!(flags.stdout.starts_with("node") && flags.stdout.contains("total us"), "{}", flags.stdout);
    assert!(!flags.stdout.contains("shows all"));
    // Not grouped: the section is another query's.
    let other = place.run(&["table", "copy_summary", &fixture], &[("WAVESIEVE_ROWS", "1")]);
    assert!(other.stdout.starts_with("direction") && other.stdout.contains("--rows 0 shows all"), "{}", other.stdout);
    // The list of queries has an option of the same name, and must not take the setting for one of the command line.
    assert_eq!(place.run(&["table", "--list"], &[("WAVESIEVE_ROWS", "1"), ("WAVESIEVE_WIDE", "yes")]).code, 0);
    assert_eq!(place.run(&["table"], &[("WAVESIEVE_ROWS", "1")]).code, 2);
}

#[test]
fn parameters_and_global_options_can_be_set_for_one_query() {
    let place = Place::new("[table.kernel_details]\ntop = 1\nthreads = 2", "");
    let details = |verb: &[&str], name| place.setting(verb, name, &[], &[]).0;
    assert_eq!(details(&["table", "kernel_details"], "top"), "1");
    assert_eq!(details(&["table", "kernel_details"], "threads"), "2");
    assert_eq!(details(&["table", "kernel_summary"], "threads"), Value::Null);
    let answer = place.run(&["table", "kernel_details", &fixture(), "-f", "csv"], &[]);
    assert_eq!(answer.stdout.lines().count(), 2, "{}", answer.stdout);
}

#[test]
fn a_switch_of_a_file_is_turned_off_by_the_environment() {
    let place = Place::new("quiet = true", "");
    let convert = |name: &str, environment: &[(&str, &str)]| {
        let dataset = place.path(name);
        place.run(&["convert", &fixture(), "-o", dataset.to_str().unwrap()], environment).stderr
    };
    assert_eq!(convert("quiet", &[]), "");
    assert!(convert("loud", &[("WAVESIEVE_QUIET", "false")]).starts_with("wrote "));
}

#[test]
fn paths_are_relative_to_the_file() {
    let place = Place::new("categories = 'rules.toml'", "");
    let rules = place.path("project/rules.toml").display().to_string();
    assert_eq!(place.setting(&["info"], "categories", &[], &[]).0, rules);
    let absent = place.run(&["info", &fixture()], &[]);
    assert!(absent.code == 2 && absent.stderr.contains(&rules), "{}", absent.stderr);
    let place = Place::new("", "queries = 'my_queries'");
    fs::create_dir(place.path("user/wavesieve/my_queries")).unwrap();
    let query = "-- title: Mine\n-- about: Mine.\n-- kind: summary\n-- needs: kernels\n-- by:\n-- dimensions:\n\
                 -- column: n count -- kernels\nSELECT COUNT(*) AS n FROM kernels\n";
    fs::write(place.path("user/wavesieve/my_queries/mine.sql"), query).unwrap();
    let answer = place.run(&["table", "mine", &fixture(), "-f", "csv"], &[]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "n\n288\n"), "{}", answer.stderr);
}

#[test]
fn mistakes_are_named_with_file_key_reason_and_the_closest() {
    for (project, expected) in [
        ("untt = 'us'", "wavesieve.toml: untt is not an option (did you mean unit?)"),
        ("time-unit = 'minutes'", "time-unit = \"minutes\": write one of ns, us, ms, s, auto"),
        ("format = 'jsn'", "parquet, arrow (did you mean json?)"),
        ("rows = 'many'", "rows = \"many\": invalid digit"),
        ("threads = 0", "threads = 0: 0 is not in 1.."),
        ("quiet = 'perhaps'", "quiet = \"perhaps\": write true or false"),
        ("output = 'x.csv'", "output is for the command line only"),
        ("[tabel]\nrows = 1", "[tabel] is the section of no verb or query (did you mean table?)"),
        ("[table.kernel_sumary]\nrows = 1", "[table.kernel_sumary] is the section of no verb or query (did you mean"),
        ("[table]\nqueries = 'q'", "table.queries is below a section"),
        ("[convert]\nrows = 1", "convert.rows is not an option"),
        ("[table.kernel_details]\ntop = -1", "table.kernel_details.top = -1: it cannot be negative"),
        ("rows = 1979-05-27", "rows = 1979-05-27: write one value or a flat list"),
        ("rows = 1\nrows = 2", "wavesieve.toml:2: duplicate key"),
    ] {
        let place = Place::new(project, "");
        let run = place.run(&["table", "--list"], &[]);
        assert_eq!(run.code, 2, "{project}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{project}: {}", run.stderr);
        assert!(run.stderr.lines().count() == 1 && run.stdout.is_empty(), "{project}: {}", run.stderr);
        assert_eq!(place.run(&["--help"], &[]).code, 0, "help is given whatever the settings are");
    }
    let place = Place::new("", "");
    let wrong = place.run(&["table", "--list"], &[("WAVESIEVE_TIME_UNIT", "uz")]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("WAVESIEVE_TIME_UNIT = uz: write one of ns, us"), "{}", wrong.stderr);
}

#[test]
fn a_value_at_the_top_counts_for_the_verbs_that_take_it() {
    // No table is written as such a file, but convert takes none of these as its --to.
    let place = Place::new("format = 'json'\nto = 'csv'", "");
    assert!(place.run(&["table", "--list"], &[]).stdout.starts_with('['));
    assert_eq!(place.setting(&["convert"], "to", &[], &[]).0, "csv");
}

#[test]
fn unknown_variables_are_listed_on_request() {
    let place = Place::new("", "");
    let environment = [("WAVESIEVE_DATA", "/data"), ("WAVESIEVE_ROW", "1")];
    assert_eq!(place.run(&["config", "show"], &environment).stderr, "");
    let listed = place.run(&["config", "show", "-v"], &environment).stderr;
    assert!(listed.contains("WAVESIEVE_ROW sets no option") && listed.contains("WAVESIEVE_DATA"), "{listed}");
}

#[test]
fn all_settings_are_shown_and_those_of_queries_once() {
    let place = Place::new("[table.kernel_summary]\nrows = 3", "");
    let rows: Vec<Value> = serde_json::from_str(&place.run(&["config", "show", "-f", "json"], &[]).stdout).unwrap();
    let shown = |verb: &str, setting: &str| {
        let rows: Vec<&Value> = rows.iter().filter(|row| row["verb"] == verb && row["setting"] == setting).collect();
        assert!(rows.len() < 2, "{verb} {setting}");
        rows.first().map(|row| (row["value"].clone(), row["kind"].clone()))
    };
    assert_eq!(shown("table", "rows"), Some(("40".into(), "default".into())));
    assert_eq!(shown("table kernel_summary", "rows"), Some(("3".into(), "file".into())));
    assert_eq!(shown("table copy_summary", "rows"), None);
    assert_eq!(shown("table kernel_details", "top"), Some(("0".into(), "default".into())));
    assert_eq!(shown("(all)", "color"), Some(("auto".into(), "default".into())));
    assert_eq!(shown("convert", "overwrite"), None, "it is for the command line only");
}

#[test]
fn a_project_sets_nothing_that_runs_writes_or_sends() {
    for key in [
        "[lab.replay]\nruntime = '/tmp/evil.so'",
        "[lab.replay]\nenv = ['LD_PRELOAD=/tmp/evil.so']",
        "[lab.optimize]\ncheck = 'touch /tmp/evil'",
        "[lab.capture]\nlibrary = '/tmp/evil.so'",
        "[lab.autotune]\ncmd-template = 'evil'",
        "[compare]\nsave = '/tmp/evil'",
        "[analyze]\ncharts = '/tmp/evil'",
        "[table]\nengine = 'ballista://evil:1'",
        "cache = '/tmp/evil'",
        "runtime = '/tmp/evil.so'",
        "mail-from = 'evil@example.org'",
        "prompt = 'evil'",
        "source-dir = '/'",
    ] {
        let place = Place::new(key, "");
        let run = place.run(&["schema", "tables"], &[]);
        assert_eq!(run.code, 2, "{key}: {}", run.stderr);
        assert!(run.stderr.contains("is not for the settings of a project, because"), "{key}: {}", run.stderr);
        let own = Place::new("", key);
        assert_eq!(own.run(&["schema", "tables"], &[]).code, 0, "{key}: users decide for themselves");
    }
}

#[test]
fn what_all_verbs_take_is_no_setting_of_those_that_act() {
    let place = Place::new("threads = 2", "");
    assert_eq!(place.setting(&["info"], "threads", &[], &[]).0, "2");
    assert_eq!(place.setting(&["lab", "replay"], "threads", &[], &[]).0, Value::Null);
}

#[cfg(unix)]
#[test]
fn a_file_of_another_user_is_ignored_with_a_note() {
    let place = Place::new("unit = 'ns'", "");
    let file = place.path("project/wavesieve.toml");
    // Only root gives files away.
    if std::os::unix::fs::chown(&file, Some(54_321), None).is_err() {
        return crate::skipping::skip("giving a file away needs root");
    }
    let run = place.run(&["config", "show", "info", "-f", "json"], &[]);
    assert!(run.stderr.contains("belongs to another user (54321) and is ignored"), "{}", run.stderr);
    assert!(run.stdout.contains("\"auto\"") && run.code == 0, "{}", run.stdout);
    assert_eq!(place.run(&["-q", "schema", "tables"], &[]).stderr, "");
}
