//! Names from the trace and the machine, so that they are found anywhere.

use std::path::Path;

use super::cells::{kind_of, words};
use super::level::Share;
use super::scan::names_of_scan;
use crate::llm::environment::Variables;
use crate::llm::redaction::{Rules, TokenMap};
use wavesieve_engine::ColumnUnit;
use wavesieve_engine::findings::{QueryRequest, shortened};
use wavesieve_export::cell::Cell;
use wavesieve_report::analysis::Analysis;
use wavesieve_tables::trace::views::View;

/// Minimum length of a name part that is redacted by itself.
const SHORTEST_PART: usize = 5;
/// Minimum length of a command-line word that is redacted.
const SHORTEST_WORD: usize = 4;
/// Minimum length of a command line that is redacted as a whole.
const SHORTEST_COMMAND: usize = 6;
/// Lengths to which sentences shorten names.
pub(crate) const SHORTENED_TO: [usize; 2] = [60, 160];
/// Queries with names of kernels, ranges and calls that are redacted even if no table shows them.
const QUERIES_WITH_NAMES: [&str; 3] = ["kernel_summary", "range_summary", "api_summary"];

/// The names to redact at a level.
pub fn known_names(analysis: &Analysis, share: Share, variables: &Variables, rules: &Rules) -> TokenMap {
    let mut names = TokenMap::default();
    let is_plain =
        |word: &str| words().contains(word) || rules.public.iter().any(|known| known == word) || is_number(word);
    for input in &analysis.document.provenance.inputs {
        names.name("PATH", &input.path);
        let token = names.token("PATH", &input.path, true);
        names.alias_anywhere(&input.path, &token);
        for part in [Path::new(&input.path).file_name(), Path::new(&input.path).file_stem()].into_iter().flatten() {
            let part = part.to_string_lossy();
            // `1` of `1.db` occurs in other words.
            if part.contains('.') && !is_plain(&part) {
                names.alias_anywhere(&part, &token);
            } else if !is_plain(&part) {
                names.alias(&part, &token);
            }
        }
        for host in input.hostname.iter().filter(|host| !is_plain(host)) {
            let token = names.name("HOST", host);
            names.alias_anywhere(host, &token);
            let short = host.split('.').next().unwrap_or_default();
            if !is_plain(short) {
                names.alias_anywhere(short, &token);
            }
        }
    }
    for word in analysis.collected.inputs.words().iter().filter(|word| !is_plain(word)) {
        let token = names.name("PATH", word);
        names.alias_anywhere(word, &token);
    }
    let users = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| variables.get(name));
    for user in users.filter(|user| !is_plain(user)) {
        let token = names.name("USER", user);
        names.alias_anywhere(user, &token);
    }
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let here = variables.get("HOSTNAME").map(ToOwned::to_owned).into_iter().chain([here.trim().to_owned()]);
    for host in here.filter(|host| !host.is_empty() && !is_plain(host)) {
        let token = names.name("HOST", &host);
        names.alias_anywhere(&host, &token);
    }
    let program = analysis.collected.program.join(" ");
    let commands = analysis.collected.commands.iter().chain([&program]);
    let paths = analysis.document.provenance.inputs.iter().map(|input| &input.path);
    for name in paths.chain(commands.clone()).flat_map(|text| rules.people_in(text)) {
        names.person(&name);
    }
    for command in commands.clone().filter(|command| command.chars().count() >= SHORTEST_COMMAND && !is_plain(command))
    {
        let token = names.name("COMMAND", command);
        names.alias_anywhere(command, &token);
    }
    for word in commands.flat_map(|command| command.split_whitespace()) {
        let parts = [Some(word), word.split_once('=').map(|(_, value)| value)];
        for part in parts.into_iter().flatten() {
            if part.chars().count() >= SHORTEST_WORD && !part.starts_with('-') && !is_plain(part) {
                names.name("ARGUMENT", part);
            }
        }
    }
    if share == Share::Figures {
        names_of_trace(analysis, &mut names);
        if let Some(tree) = &analysis.source {
            names_of_scan(&tree.scan, &mut names);
        }
    }
    names
}

fn is_number(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-' | '+' | 'e' | 'x'))
}

/// Adds names of kernels, ranges and calls, with their usual short forms.
fn names_of_trace(analysis: &Analysis, names: &mut TokenMap) {
    for query in QUERIES_WITH_NAMES {
        for view in [View::Steady, View::WholeRun] {
            let Some(answer) = analysis.answers.get(&QueryRequest::new(query).of_view(view)) else { continue };
            for column in answer.columns.iter().filter(|column| column.unit == ColumnUnit::Name) {
                let Ok(values) = answer.frame.column(&column.name) else { continue };
                for row in 0..answer.frame.height() {
                    if let Cell::Text(name) = Cell::new(values, row) {
                        add_name(&name, kind_of(&column.name, column.unit), names);
                    }
                }
            }
        }
    }
    for subject in analysis.document.findings.iter().filter_map(|finding| finding.subject.as_ref()) {
        if !words().contains(subject) && !is_number(subject) {
            add_name(subject, "NAME", names);
        }
    }
}

/// The name without types and arguments: `ns::gemm` of `void ns::gemm<float>(int)`.
pub(crate) fn base_name(name: &str) -> &str {
    let head = name.split(['<', '(']).next().unwrap_or_default().trim();
    head.rsplit(' ').next().unwrap_or_default()
}

/// Adds a name, with its parts that are also used as names.
pub(super) fn add_name(name: &str, kind: &str, names: &mut TokenMap) {
    if name.is_empty() || words().contains(name) {
        return;
    }
    let token = names.name(kind, name);
    for most in SHORTENED_TO {
        names.alias(&shortened(name, most), &token);
    }
    // `ns::gemm` is also named `gemm`.
    let base = base_name(name);
    let last = base.rsplit("::").next().unwrap_or_default();
    for part in [base, last] {
        if part.len() >= SHORTEST_PART && !words().contains(part) {
            names.alias(part, &token);
        }
    }
}
