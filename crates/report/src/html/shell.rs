//! Shared parts of all pages: templates, styles, scripts, and the rights of a page in a browser.

use std::io::Write;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::table_view::grouped;
use crate::charts::style_sheet;
use wavesieve_model::text::hidden::escape_hidden;

const TEMPLATES: [(&str, &str); 11] = [
    ("frame.html", data!("templates/report/frame.html")),
    ("index.html", data!("templates/report/index.html")),
    ("page.html", data!("templates/report/page.html")),
    ("parts.html", data!("templates/report/parts.html")),
    ("icons.html", data!("templates/report/icons.html")),
    ("overview.html", data!("templates/report/overview.html")),
    ("findings.html", data!("templates/report/findings.html")),
    ("figures.html", data!("templates/report/figures.html")),
    ("timeline.html", data!("templates/report/timeline.html")),
    ("sections.html", data!("templates/report/sections.html")),
    ("appendix.html", data!("templates/report/appendix.html")),
];

/// Styles in the order of the cascade. The rules of charts come before those that change them on paper.
const STYLES: [&str; 7] = [
    data!("templates/report/base.css"),
    data!("templates/report/layout.css"),
    data!("templates/report/tables.css"),
    data!("templates/report/findings.css"),
    data!("templates/report/index.css"),
    data!("templates/timeline/timeline.css"),
    data!("templates/report/print.css"),
];

/// Script that runs before anything is visible.
pub const EARLY_SCRIPT: &str = data!("templates/report/theme.js");

const SCRIPTS: [&str; 6] = [
    data!("templates/report/copy.js"),
    data!("templates/report/tables.js"),
    data!("templates/report/findings.js"),
    data!("templates/report/tooltips.js"),
    data!("templates/report/navigation.js"),
    data!("templates/report/print.js"),
];

/// Script of the time line, for pages with one.
pub const TIMELINE_SCRIPT: &str = data!("templates/timeline/timeline.js");

/// Content around the body of every page.
#[derive(Serialize)]
pub struct Shell {
    version: &'static str,
    /// Text of the filter in the bar.
    filter: &'static str,
    policy: String,
    style: String,
    early_script: &'static str,
    script: String,
}

impl Shell {
    /// The parts around a page whose filter has this text.
    pub fn new(filter: &'static str) -> Self {
        Self::with_scripts(filter, &SCRIPTS)
    }

    /// The same for a page with a time line.
    pub fn with_timeline(filter: &'static str) -> Self {
        let scripts: Vec<&str> = SCRIPTS.into_iter().chain([TIMELINE_SCRIPT]).collect();
        Self::with_scripts(filter, &scripts)
    }

    fn with_scripts(filter: &'static str, scripts: &[&str]) -> Self {
        let style = page_styles();
        let script = scripts.concat();
        let policy = policy(&[EARLY_SCRIPT, &script]);
        Self { version: env!("CARGO_PKG_VERSION"), filter, policy, style, early_script: EARLY_SCRIPT, script }
    }
}

/// The styles of pages, with those of charts.
pub fn page_styles() -> String {
    let [base, rest @ ..] = STYLES;
    [base, style_sheet()].into_iter().chain(rest).collect()
}

/// Writes a page from its template.
pub fn render(template: &str, page: &impl Serialize, out: &mut dyn Write) -> Result<()> {
    let environment = environment()?;
    let template = environment.get_template(template).context("internal: the page has no template")?;
    template.render_captured_to(Serde(page), &mut *out).context("cannot write the page")?;
    Ok(())
}

fn environment() -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.context("internal: the syntax of templates is wrong")?);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(escape_hidden(text).as_ref())),
        None => escape_formatter(out, state, value),
    });
    environment.add_filter("plural", |count: u64, word: String| match count {
        1 => format!("1 {word}"),
        _ => format!("{} {word}s", grouped(&count.to_string())),
    });
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).with_context(|| format!("internal: the template {name} is wrong"))?;
    }
    Ok(environment)
}

/// Rights of a page in a browser: to run these scripts and no others, and to load nothing.
fn policy(scripts: &[&str]) -> String {
    let hash = |script: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
    let hashes = scripts.iter().map(hash).collect::<Vec<String>>().join(" ");
    format!(
        "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}
