//! Rejects command lines that write a path they also read: one rule for all path options, before anything is done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::ArgMatches;
use serde::Deserialize;

use super::exit::{Failure, refuse};
use super::options::output::AnswerFormat;
use super::output::delivery::extension_of;
use super::output::document_output::DocumentFormat;

/// Options by their ids.
type Options = BTreeMap<String, String>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    read: Options,
    read_among_results: Options,
    continued: Options,
    written: Options,
    /// Options outside of this rule, for the test.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test looks for options in no list"))]
    other: Options,
}

static LISTS: LazyLock<Lists> =
    LazyLock::new(|| toml::from_str(include_str!("../../share/paths.toml")).unwrap_or_default());

/// An input.
struct Read {
    /// The option that names the input, or another reason why it is one.
    by: String,
    place: PathBuf,
    /// Whether results may lie in it.
    is_among_results: bool,
}

/// Rejects a command line that would write its inputs. `settings` are the settings files, which are read too.
pub(crate) fn check<'a>(matches: &ArgMatches, settings: impl Iterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let levels: Vec<&ArgMatches> =
        std::iter::successors(Some(matches), |matches| matches.subcommand().map(|(_, below)| below)).collect();
    // Document names get an extension if they have none.
    let has_documents = levels.iter().any(|level| level.try_contains_id("directory").is_ok());
    let named = |options: &Options| -> Vec<(String, PathBuf)> {
        let of_level = |matches: &&ArgMatches| {
            let found = options.iter().filter_map(|(id, option)| Some((option, matches.try_get_raw(id).ok()??)));
            let found = found.flat_map(|(option, values)| values.map(|value| (option.clone(), PathBuf::from(value))));
            found.collect::<Vec<_>>()
        };
        let mut all: Vec<_> = levels.iter().flat_map(of_level).collect();
        // An option of all verbs is found at each level.
        all.dedup();
        all
    };
    let mut reads: Vec<Read> = settings
        .filter_map(|file| {
            Some(Read { by: "settings".to_owned(), place: file.canonicalize().ok()?, is_among_results: false })
        })
        .collect();
    let groups = [(&LISTS.read, false), (&LISTS.continued, false), (&LISTS.read_among_results, true)];
    for (options, is_among_results) in groups {
        let places = named(options).into_iter().filter_map(|(by, path)| Some((by, path.canonicalize().ok()?)));
        reads.extend(places.map(|(by, place)| Read { by, place, is_among_results }));
    }
    for (option, path) in named(&LISTS.written).into_iter().chain(named(&LISTS.continued)) {
        let found = candidates(&path, has_documents).find_map(|path| {
            let read = reads.iter().filter(|read| read.by != option).find(|read| read.is_written_by(&path))?;
            Some((path, read))
        });
        if let Some((path, read)) = found {
            let reason = format!("{} is an input ({}), which is never written", path.display(), read.by);
            refuse!("{reason}; name another place with {option}");
        }
    }
    Ok(())
}

/// A path, and the path with an extension that documents may get.
fn candidates(path: &Path, has_documents: bool) -> impl Iterator<Item = PathBuf> + '_ {
    let with = |extension: &&'static str| {
        let mut path = path.as_os_str().to_owned();
        path.push(format!(".{extension}"));
        PathBuf::from(path)
    };
    let is_open = has_documents && path.extension().is_none();
    let extended = DocumentFormat::extensions().into_iter().filter(move |_| is_open);
    std::iter::once(path.to_owned()).chain(extended.map(move |extension| with(&extension)))
}

impl Read {
    /// Returns whether writing a path, which may not exist yet, would change the input.
    fn is_written_by(&self, path: &Path) -> bool {
        let Ok(place) = path.canonicalize() else { return false };
        if place == self.place {
            return !(self.is_among_results && place.is_dir());
        }
        place.is_file() && place.starts_with(&self.place) && !(self.is_among_results && is_result(&place))
    }
}

/// Returns whether a file has the extension of a result.
fn is_result(path: &Path) -> bool {
    let Some(extension) = extension_of(path) else { return false };
    DocumentFormat::extensions().contains(&extension.as_str())
        || AnswerFormat::of_extension(path).is_some()
        || matches!(extension.as_str(), "svg" | "png")
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command};

    use super::*;
    use crate::cli::command_line::CommandLine;
    use wavesieve_engine::Registry;

    fn lists() -> [&'static Options; 5] {
        [&LISTS.read, &LISTS.read_among_results, &LISTS.continued, &LISTS.written, &LISTS.other]
    }

    /// Commands without subcommands, with their words.
    fn leaves(command: &Command, words: &[String], found: &mut Vec<(Vec<String>, Command)>) {
        let mut any = false;
        for below in command.get_subcommands() {
            any = true;
            leaves(below, &[words, &[below.get_name().to_owned()]].concat(), found);
        }
        if !any {
            found.push((words.to_vec(), command.clone()));
        }
    }

    fn is_path(option: &&Arg) -> bool {
        let names = option.get_value_names().unwrap_or_default();
        option.get_long().is_some()
            && (option.get_id() == "output"
                || names.iter().any(|name| ["FILE", "DIR", "PATH", "INPUT"].contains(&name.as_str())))
    }

    fn whole() -> Command {
        let registry = Registry::builtin().unwrap();
        CommandLine::new(&registry, clap::ColorChoice::Never).whole().clone()
    }

    #[test]
    fn every_option_with_a_path_is_in_one_list() {
        let mut found = Vec::new();
        leaves(&whole(), &[], &mut found);
        assert!(found.len() > 100);
        // Options of all verbs belong to the program.
        found.push((Vec::new(), whole()));
        let mut missing = Vec::new();
        for (words, command) in &found {
            for option in command.get_arguments().filter(is_path) {
                let (id, long) = (option.get_id().as_str(), format!("--{}", option.get_long().unwrap()));
                let listed: Vec<&String> = lists().iter().filter_map(|list| list.get(id)).collect();
                match listed[..] {
                    [one] => assert!(*one == long || id == "directory", "{words:?} {long}: {one}"),
                    _ => missing.push(format!("{id} = \"{long}\"")),
                }
            }
        }
        missing.dedup();
        assert!(missing.is_empty(), "list once in share/paths.toml: {missing:?}");
        let known = |id: &String| {
            found.iter().any(|(_, command)| command.get_arguments().any(|option| option.get_id() == id.as_str()))
        };
        let unknown: Vec<&String> = lists().iter().flat_map(|list| list.keys()).filter(|id| !known(id)).collect();
        assert!(unknown.is_empty(), "no command has these options of share/paths.toml: {unknown:?}");
    }

    /// Each verb with each input option and each output option.
    #[test]
    fn nothing_that_is_read_is_written() {
        let place = tempfile::tempdir().unwrap();
        let (file, folder) = (place.path().join("same.toml"), place.path().join("folder"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&file, "x").unwrap();
        std::fs::write(folder.join("own.sql"), "x").unwrap();
        std::fs::write(folder.join("result.csv"), "x").unwrap();
        let whole = whole().ignore_errors(true);
        let mut found = Vec::new();
        leaves(&whole, &[], &mut found);
        let (mut pairs, mut seen) = (0, std::collections::BTreeSet::new());
        for (verb, command) in &found {
            // Verbs with the same options, such as queries, are one case.
            let options: Vec<_> =
                command.get_arguments().filter(is_path).map(|option| option.get_id().clone()).collect();
            if !seen.insert(options) {
                continue;
            }
            let ids = |lists: &[&'static Options]| -> Vec<&Arg> {
                let all = command.get_arguments().chain(whole.get_arguments());
                all.filter(is_path)
                    .filter(|option| lists.iter().any(|list| list.contains_key(option.get_id().as_str())))
                    .collect()
            };
            let reads = ids(&[&LISTS.read, &LISTS.read_among_results, &LISTS.continued]);
            for written in ids(&[&LISTS.written]) {
                for read in &reads {
                    let run = |from: &Path, to: &Path| {
                        let option =
                            |option: &Arg, path: &Path| format!("--{}={}", option.get_long().unwrap(), path.display());
                        let mut words = vec!["wavesieve".to_owned()];
                        words.extend(verb.iter().cloned());
                        words.extend([option(read, from), option(written, to)]);
                        let matches = whole.clone().try_get_matches_from(&words).unwrap();
                        check(&matches, std::iter::empty()).err().map(|failure| failure.message().to_string())
                    };
                    let shown = format!("{verb:?} {} {}", read.get_id(), written.get_id());
                    let refused = run(&file, &file).unwrap_or_else(|| panic!("{shown}"));
                    assert!(
                        refused.contains("is an input (--") && refused.contains("which is never written"),
                        "{shown}: {refused}"
                    );
                    let below = run(&folder, &folder.join("own.sql"));
                    assert!(below.is_some(), "{shown}");
                    let is_among_results = LISTS.read_among_results.contains_key(read.get_id().as_str());
                    assert_eq!(run(&folder, &folder.join("result.csv")).is_none(), is_among_results, "{shown}");
                    assert_eq!(run(&file, &place.path().join("other")), None, "{shown}");
                    pairs += 1;
                }
            }
        }
        assert!(pairs > 100, "{pairs}");
    }

    #[test]
    fn files_of_settings_and_extensions_count() {
        let place = tempfile::tempdir().unwrap();
        let (settings, rules) = (place.path().join("wavesieve.toml"), place.path().join("rules.json"));
        std::fs::write(&settings, "").unwrap();
        std::fs::write(&rules, "").unwrap();
        let run = |words: &[&str]| {
            let matches = whole().ignore_errors(true).try_get_matches_from(words).unwrap();
            check(&matches, std::iter::once(&settings)).err().map(|failure| failure.message().to_string())
        };
        let of_settings = format!("--output={}", settings.display());
        assert!(run(&["wavesieve", "sql", "SELECT 1", &of_settings]).unwrap().contains("is an input (settings)"));
        let (rules, output) =
            (format!("--rules={}", rules.display()), format!("--output={}", place.path().join("rules").display()));
        let refused = run(&["wavesieve", "analyze", "x", &rules, &output, "-f", "json"]).unwrap();
        assert!(refused.contains("rules.json is an input (--rules)"), "{refused}");
        assert_eq!(run(&["wavesieve", "analyze", "x", &rules, "--output=-"]), None);
    }

    /// Every command that writes CSV or TSV can defuse formulas.
    #[test]
    fn every_verb_that_writes_csv_can_defuse_formulas() {
        let mut found = Vec::new();
        leaves(&whole(), &[], &mut found);
        let mut count = 0;
        for (words, command) in &found {
            let writes =
                command.get_arguments().filter(|option| matches!(option.get_id().as_str(), "format" | "to")).any(
                    |option| option.get_possible_values().iter().any(|value| matches!(value.get_name(), "csv" | "tsv")),
                );
            let can = command.get_arguments().any(|option| option.get_long() == Some("csv-safe"));
            assert_eq!(writes, can, "{words:?}");
            count += usize::from(writes);
        }
        assert!(count > 100, "{count}");
    }
}
