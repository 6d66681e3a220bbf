//! Declarations of the tools for agents: `share/mcp/`.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

/// Instructions for an agent before its first call.
pub(in crate::mcp) const INSTRUCTIONS: &str = data!("share/mcp/instructions.md");

const TOOLS: &str = data!("share/mcp/tools.json");

/// Documentation of a tool.
#[derive(Clone, Debug, Deserialize)]
pub struct ToolDocs {
    pub name: String,
    pub title: String,
    pub description: String,
}

/// A test reads them, so they are never empty.
static DECLARED: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(TOOLS).unwrap_or_default());

/// The tools for `tools/list`.
pub fn declared() -> Value {
    DECLARED.clone()
}

/// The schema of a tool's arguments; `None` if the tool does not exist.
pub(in crate::mcp) fn input_schema(tool: &str) -> Option<&'static Value> {
    let mut tools = DECLARED.as_array().into_iter().flatten();
    tools.find(|declared| declared.get("name").and_then(Value::as_str) == Some(tool))?.get("inputSchema")
}

/// The tools in the order of the list.
pub fn tool_docs() -> Vec<ToolDocs> {
    serde_json::from_str(TOOLS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_described_and_takes_an_object() {
        let tools = declared();
        let tools = tools.as_array().unwrap();
        assert_eq!(tools.len(), tool_docs().len());
        assert!(tools.len() > 10);
        for tool in tools {
            let (name, schema) = (&tool["name"], &tool["inputSchema"]);
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 40), "{name}");
            assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()), "{name}");
            for required in schema["required"].as_array().unwrap() {
                assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn instructions_name_every_tool() {
        for tool in tool_docs().iter().filter(|tool| tool.name != "check") {
            assert!(INSTRUCTIONS.contains(&format!("`{}`", tool.name)), "{}", tool.name);
        }
    }
}
