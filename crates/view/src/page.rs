//! The page, with its rights in a browser.

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use sha2::{Digest, Sha256};
use wavesieve_report::html::{EARLY_SCRIPT, TIMELINE_SCRIPT, page_styles};

const TEMPLATE: &str = data!("templates/view/page.html");
const STYLE: &str = data!("templates/view/view.css");
/// Scripts in their order.
const SCRIPTS: [&str; 9] = [
    TIMELINE_SCRIPT,
    data!("templates/report/copy.js"),
    data!("templates/view/request.js"),
    data!("templates/view/parts.js"),
    data!("templates/view/timeline.js"),
    data!("templates/view/findings.js"),
    data!("templates/view/queries.js"),
    data!("templates/view/sql.js"),
    data!("templates/view/start.js"),
];

/// The page and its policy, which are the same for every request.
pub struct Page {
    /// The bytes.
    pub body: Vec<u8>,
    /// Value of the header with its rights.
    pub policy: String,
}

impl Page {
    /// Makes the page for a trace, which may be compared with another one.
    ///
    /// # Errors
    /// When the template is wrong, which the tests exclude.
    pub fn new(title: &str, is_compared: bool, in_frames: bool) -> Result<Self> {
        let script = SCRIPTS.concat();
        let style = page_styles() + STYLE;
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_template("page.html", TEMPLATE).context("internal: the page has a wrong template")?;
        let template = environment.get_template("page.html").context("internal: the page has no template")?;
        let safe = |text: &str| Value::from_safe_string(text.to_owned());
        let body = template
            .render(context! {
                title, is_compared, version => env!("CARGO_PKG_VERSION"),
                style => safe(&style), early_script => safe(EARLY_SCRIPT), script => safe(&script),
            })
            .context("cannot make the page")?;
        let hash = |script: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
        let frames = if in_frames { "" } else { "; frame-ancestors 'none'" };
        let policy = format!(
            "default-src 'none'; script-src {} {}; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; \
             form-action 'none'{frames}",
            hash(EARLY_SCRIPT),
            hash(&script)
        );
        Ok(Self { body: body.into_bytes(), policy })
    }
}
