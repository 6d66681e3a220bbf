//! Formats and options of other programs as Markdown, from the tables of `share/`.

use std::fmt::Write as _;

use wavesieve_model::analysis::counter_plan::{ProfilerOptions, profilers};
use wavesieve_model::analysis::upstream::upstream;

/// `docs/upstream.md`.
pub(crate) fn page() -> String {
    let mut page = String::from(include_str!("../../../templates/docs/upstream.md"));
    formats(&mut page);
    for profiler in profilers() {
        options(&mut page, &profiler);
    }
    facts(&mut page);
    page
}

fn formats(page: &mut String) {
    // Writing to a String cannot fail.
    let _ = writeln!(page, "\n## Formats\n\n| format | read | written | recommended | checked | source |");
    let _ = writeln!(page, "| --- | --- | --- | --- | --- | --- |");
    for format in &upstream().format {
        let cells =
            [&format.read, &format.written, &format.recommended].map(|text| cell(text.as_deref().unwrap_or("no")));
        let [read, written, recommended] = cells;
        let (id, title, source) = (&format.id, cell(&format.title), cell(&format.source));
        let _ =
            writeln!(page, "| {title} (`{id}`) | {read} | {written} | {recommended} | {} | {source} |", format.checked);
    }
    for format in upstream().format.iter().filter(|format| !format.version.is_empty()) {
        let _ = writeln!(
            page,
            "\n### Versions of {}\n\n| version | first ROCm | adds |\n| --- | --- | --- |",
            format.title
        );
        for version in &format.version {
            let rocm = version.rocm.map_or_else(|| "unknown".to_owned(), |rocm| rocm.to_string());
            let _ = writeln!(page, "| {} | {rocm} | {} |", version.name, cell(&version.adds));
        }
    }
}

fn options(page: &mut String, profiler: &ProfilerOptions) {
    let _ = writeln!(page, "\n## Options of {}\n", profiler.name);
    let _ = writeln!(page, "Checked {}; source: {}.\n", profiler.checked, profiler.source);
    let _ = writeln!(page, "| options | ROCm | instead |\n| --- | --- | --- |");
    for (releases, instead, names) in &profiler.options {
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ");
        let _ = writeln!(page, "| {names} | {releases} | {} |", instead.as_deref().map(cell).unwrap_or_default());
    }
    for sentence in &profiler.sentences {
        let _ = writeln!(page, "\n{sentence}");
    }
}

fn facts(page: &mut String) {
    let _ = writeln!(page, "\n## Tables of facts\n\n| table | holds | checked | source |\n| --- | --- | --- | --- |");
    for facts in &upstream().facts {
        let (file, about, source) = (&facts.file, cell(&facts.about), cell(&facts.source));
        let _ = writeln!(page, "| `share/{file}` | {about} | {} | {source} |", facts.checked);
    }
}

fn cell(text: &str) -> String {
    text.replace('|', r"\|")
}
