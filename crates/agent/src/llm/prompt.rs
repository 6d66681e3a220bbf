//! Instructions and the question for a model: templates with the guide and the data.

use minijinja::{Environment, context};
use serde_json::Value;

use super::answer::schema;
use super::environment::Variables;
use super::error::LlmError;
use super::guide::{GuideContext, guide};
use super::request::{Message, Request, Role};

const SYSTEM: &str = data!("templates/llm/system.md");
const QUESTION: &str = data!("templates/llm/question.md");
/// The default question.
pub(crate) const OVERVIEW: &str = data!("templates/llm/overview.md");

/// Makes the request for an answer about data.
pub fn request(about: &GuideContext, data: &Value, variables: &Variables) -> Result<Request, LlmError> {
    let tags = about.tags();
    let system = system(&guide(about, &tags, variables)?)?;
    let always = std::collections::BTreeSet::from(["always"]);
    let short_system = self::system(&guide(about, &always, variables)?)?;
    let values = context! {
        prompt => about.prompt.clone(), tier => about.tier, data => data.to_string(), overview => OVERVIEW.trim()
    };
    let text = filled("question.md", QUESTION, values)?;
    let messages = vec![Message { role: Role::User, text }];
    Ok(Request { system, short_system: Some(short_system), messages, schema: schema(), ..Request::default() })
}

fn system(guide: &str) -> Result<String, LlmError> {
    filled("system.md", SYSTEM, context! { guide })
}

/// Renders a template with its values.
///
/// # Errors
/// When the template is wrong.
pub fn filled(name: &str, template: &str, values: minijinja::Value) -> Result<String, LlmError> {
    let text = Environment::new().render_str(template, values);
    let text = text.map_err(|error| LlmError::Internal(format!("templates/llm/{name}: {error}")))?;
    Ok(text.trim().to_owned())
}
