//! The tools that a model may call, only for the named inputs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::inputs::Inputs;
use super::restored::{Tokens, compared, has_names, restored};
use super::step::{DialogueStep, OverTokens, shown};
use crate::llm::{MaskOptions, Redactor, Share, TokenMap, ToolCall, ToolSpec, strange_part};
use crate::mcp::{Behind, Called, ToolProcess, declared};

/// Offered tools, in this order; the last one only with a baseline.
const OFFERED: [&str; 7] = ["info", "tables", "table", "sql", "findings", "analyze", "compare"];
/// Arguments that a model cannot set, because they are fixed.
const DECIDED: [&str; 3] = ["inputs", "base", "new"];
/// Kinds of tokens whose texts are searched in any case and within longer words.
const ANYWHERE: [&str; 3] = ["HOST", "USER", "PATH"];
/// Maximum rows of a table from the tools; answers are compared with all of them.
const MOST_ROWS: usize = 1000;
/// Maximum text size of a result.
const MOST_BYTES: &str = "8M";

/// Options of the tools.
#[derive(Clone, Debug)]
pub struct ToolkitOptions {
    pub inputs: Inputs,
    /// The baseline runs, for `compare`.
    pub baseline: Option<Inputs>,
    /// Filters for every call, by argument name.
    pub filters: Map<String, Value>,
    pub time_limit: Duration,
    /// Options that a child process of this program needs to work in the same way.
    pub process_options: Vec<OsString>,
}

/// The model that calls, with its level.
pub struct Asking<'a> {
    pub share: Share,
    /// The user's own redaction rules.
    pub redact: Option<&'a Path>,
    pub redactor: &'a mut Redactor,
}

impl Asking<'_> {
    fn mask(&self) -> MaskOptions {
        let redact = self.redact.map(Path::to_path_buf);
        MaskOptions { share: self.share, redact, names: self.redactor.map().clone() }
    }
}

/// The tools, with the finished calls.
pub struct Toolkit {
    options: ToolkitOptions,
    process: ToolProcess,
    /// The steps of earlier calls, by tool and arguments.
    done: BTreeMap<(String, String), DialogueStep>,
}

impl Toolkit {
    /// Makes the tools; a process is started at the first call.
    pub fn new(options: ToolkitOptions) -> Self {
        // The inputs may be anywhere: they are fixed here, and a model cannot name others.
        let root = Path::new("/").canonicalize().unwrap_or_else(|_| "/".into());
        let rows = MOST_ROWS.to_string();
        let own = ["mcp", "--max-rows", &rows, "--max-bytes", MOST_BYTES].map(OsString::from);
        let arguments = own.into_iter().chain(options.process_options.iter().cloned()).chain([root.into_os_string()]);
        let process = ToolProcess::new(arguments.collect(), options.time_limit);
        Self { options, process, done: BTreeMap::new() }
    }

    /// The tools in the form that a model is offered.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let declared = declared();
        let find = |name: &&str| {
            declared.as_array()?.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(*name)).cloned()
        };
        let is_offered = |name: &&&str| **name != "compare" || self.options.baseline.is_some();
        OFFERED.iter().filter(is_offered).filter_map(find).filter_map(|tool| spec(&tool)).collect()
    }

    /// Executes a call; the redactor of `asking` knows the names behind its tokens. An earlier call is not repeated.
    pub fn call(&mut self, number: usize, call: &ToolCall, asking: &mut Asking<'_>) -> DialogueStep {
        let start = Instant::now();
        let mut step = DialogueStep {
            number,
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            ..DialogueStep::default()
        };
        let checked = self.checked(call);
        let (arguments, rows) = match checked {
            Ok(arguments) => arguments,
            Err(error) => {
                (step.is_error, step.is_refused) = (true, true);
                step.result = serde_json::json!({ "error": error });
                return step;
            }
        };
        let named = restored(&call.name, &arguments, asking.redactor.map(), Tokens::Named);
        step.arguments = shown(&named);
        step.has_names = has_names(&call.name, &arguments, asking.redactor.map());
        if let Some(error) = guess(&call.name, &arguments, asking) {
            (step.is_error, step.is_refused) = (true, true);
            step.result = serde_json::json!({ "error": error });
            return step;
        }
        // The arguments as written: if a guess counted as equal to a call with a token, it would be confirmed.
        let key = (call.name.clone(), shown(&arguments));
        let arguments = restored(&call.name, &arguments, asking.redactor.map(), Tokens::Kept);
        if let Some(earlier) = self.done.get(&key) {
            let earlier = earlier.clone();
            return DialogueStep {
                number,
                earlier: earlier.earlier.or(Some(earlier.number)),
                time: start.elapsed(),
                ..earlier
            };
        }
        let behind = Behind { mask: asking.mask(), own_filters: self.options.filters.keys().cloned().collect() };
        let arguments = self.complete(&call.name, arguments, rows);
        let Called { is_error, mut value, originals } = self.process.call(&call.name, arguments, behind);
        if call.name == "sql" && !is_error {
            let tokens = (asking.share == Share::Figures).then(|| value.clone());
            if asking.share != Share::Figures {
                know(&originals, asking.redactor.map_mut());
            }
            put_back(&mut value, &originals, asking.redactor.map());
            step.over_tokens = tokens.map(|result| OverTokens { result, originals });
        }
        let command = value.get("command").and_then(Value::as_str);
        step.command = command.filter(|_| !is_error).map(|command| self.shown_in(command));
        (step.is_error, step.result, step.time) = (is_error, value, start.elapsed());
        self.done.insert(key, step.clone());
        step
    }

    /// The arguments without the number of rows, which only limits the display; also returns whether such an argument
    /// is allowed.
    fn checked(&self, call: &ToolCall) -> Result<(Map<String, Value>, bool), String> {
        let specs = self.specs();
        let Some(spec) = specs.iter().find(|spec| spec.name == call.name) else {
            let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            return Err(format!("no tool {}; choose from {}", call.name, names.join(", ")));
        };
        let mut arguments =
            call.parsed().ok_or("the arguments are not a JSON object; write one by the schema of the tool")?;
        if let Some(decided) = DECIDED.iter().find(|name| arguments.contains_key(**name)) {
            return Err(format!("the inputs are fixed; omit {decided}"));
        }
        let own = arguments.get("filters").and_then(Value::as_object);
        let decided = own.and_then(|own| own.keys().find(|name| self.options.filters.contains_key(*name)));
        // Its value may be a name, and is not repeated.
        if let Some(name) = decided {
            return Err(format!("the filter {name} is decided for every call; leave it out"));
        }
        arguments.remove("rows");
        Ok((arguments, spec.schema.pointer("/properties/rows").is_some()))
    }

    /// The arguments with the fixed ones added.
    fn complete(&self, tool: &str, mut arguments: Map<String, Value>, has_rows: bool) -> Map<String, Value> {
        let paths = |inputs: &Inputs| Value::from(inputs.paths().to_vec());
        let mut set = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
        if has_rows {
            set("rows", Value::from(MOST_ROWS));
        }
        match (tool, &self.options.baseline) {
            ("tables", _) => {}
            ("compare", Some(baseline)) => {
                set("base", paths(baseline));
                set("new", paths(&self.options.inputs));
            }
            _ => {
                set("inputs", paths(&self.options.inputs));
                if !self.options.filters.is_empty() {
                    let own = arguments.get("filters").and_then(Value::as_object).cloned().unwrap_or_default();
                    let all = own.into_iter().chain(self.options.filters.clone());
                    arguments.insert("filters".to_owned(), Value::Object(all.collect()));
                }
            }
        }
        arguments
    }

    /// A command with the inputs in the user's spelling.
    fn shown_in(&self, command: &str) -> String {
        let command = self.options.inputs.shown_in(command);
        self.options.baseline.as_ref().map_or(command.clone(), |baseline| baseline.shown_in(&command))
    }
}

/// The problem with an argument that guesses a text of the trace.
fn guess(tool: &str, arguments: &Map<String, Value>, asking: &mut Asking<'_>) -> Option<String> {
    let mut texts = compared(tool, arguments).into_iter();
    texts.find_map(|(name, text)| {
        strange_part(&text, asking.share, asking.redactor)?;
        // The guess is not repeated: as a token, it would be confirmed.
        Some(format!(
            "{name} has something that is neither a token that was shown nor a word of this program; write the token"
        ))
    })
}

/// Makes the originals of tokens known wherever they occur: no rule would recognize a part of their text.
fn know(originals: &BTreeMap<String, String>, map: &mut TokenMap) {
    for (token, original) in originals {
        let kind = token.trim_start_matches('[').rsplit_once('_').map_or("TEXT", |(kind, _)| kind);
        let known = map.name(kind, original);
        if ANYWHERE.contains(&kind) {
            map.alias_anywhere(original, &known);
        }
    }
}

/// The rows of a result with texts in place of tokens, the same as from other tools.
fn put_back(value: &mut Value, originals: &BTreeMap<String, String>, map: &TokenMap) {
    let mut cells = Vec::new();
    if let Some(rows) = value.get_mut("rows").and_then(Value::as_array_mut) {
        cells.extend(rows.iter_mut());
    }
    while let Some(cell) = cells.pop() {
        match cell {
            Value::String(text) if text.contains('[') => {
                *text = map.restored_in_brackets(text);
                for (token, original) in
                    originals.iter().filter(|(token, _)| text.contains(token.as_str())).collect::<Vec<_>>()
                {
                    *text = text.replace(token.as_str(), original);
                }
            }
            Value::Array(values) => cells.extend(values.iter_mut()),
            Value::Object(fields) => cells.extend(fields.values_mut()),
            _ => {}
        }
    }
}

/// A declared tool without the fixed arguments.
fn spec(tool: &Value) -> Option<ToolSpec> {
    let text = |name: &str| Some(tool.get(name)?.as_str()?.to_owned());
    let mut schema = tool.get("inputSchema")?.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !DECIDED.contains(&name.as_str()));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(|name| DECIDED.contains(&name)));
    }
    let description = text("description")?;
    // The sentences about inputs do not apply here.
    let description = description.split(" Without inputs").next().unwrap_or_default().to_owned();
    Some(ToolSpec { name: text("name")?, description, schema })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Rules;

    fn toolkit(baseline: Option<Inputs>) -> Toolkit {
        Toolkit::new(ToolkitOptions {
            inputs: Inputs::new(&["../../fixtures/two_nodes".to_owned()]),
            baseline,
            filters: Map::new(),
            time_limit: Duration::from_secs(1),
            process_options: Vec::new(),
        })
    }

    #[test]
    fn no_tool_takes_a_path() {
        let specs = toolkit(Some(Inputs::default())).specs();
        assert_eq!(specs.len(), OFFERED.len());
        assert_eq!(toolkit(None).specs().len(), OFFERED.len() - 1);
        for spec in specs {
            let properties = spec.schema["properties"].as_object().unwrap();
            let required = spec.schema["required"].as_array().unwrap();
            for name in DECIDED {
                assert!(!properties.contains_key(name) && !required.contains(&name.into()), "{} {name}", spec.name);
            }
            assert!(!spec.description.contains("files"), "{}", spec.description);
        }
    }

    #[test]
    fn filters_that_hold_for_every_call_are_not_replaced() {
        let mut toolkit = toolkit(None);
        toolkit.options.filters.insert("rank".to_owned(), "0".into());
        for (filters, is_refused) in [("{\"rank\": \"1\"}", true), ("{\"rank\": \"0\"}", true), ("{\"gpu\": 0}", false)]
        {
            let arguments = format!("{{\"query\": \"busy\", \"filters\": {filters}}}");
            let call = ToolCall { id: String::new(), name: "table".to_owned(), arguments };
            let checked = toolkit.checked(&call);
            assert_eq!(checked.is_err(), is_refused, "{filters}");
            assert!(!is_refused || checked.unwrap_err() == "the filter rank is decided for every call; leave it out");
        }
    }

    #[test]
    fn wrong_calls_are_explained_without_a_process() {
        let mut toolkit = toolkit(None);
        for (name, arguments, expected) in [
            ("rm", "{}", "no tool rm; choose from info, tables, table, sql, findings, analyze"),
            ("compare", "{}", "no tool compare"),
            ("table", "{\"query\":", "not a JSON object"),
            ("table", "[1]", "not a JSON object"),
            ("table", "{\"query\": \"top\", \"inputs\": [\"/etc\"]}", "omit inputs"),
            (
                "table",
                "{\"query\": \"top\", \"filters\": {\"window\": \"@zebra\"}}",
                "window has something that is neither a token",
            ),
            ("findings", "{\"ids\": [\"dominant_kernel:zebra\"]}", "ids has something that is neither a token"),
        ] {
            let call = ToolCall { id: String::new(), name: name.to_owned(), arguments: arguments.to_owned() };
            let mut redactor = Redactor::new(Rules::new(Share::Figures, None).unwrap(), TokenMap::default());
            let mut asking = Asking { share: Share::Figures, redact: None, redactor: &mut redactor };
            let step = toolkit.call(1, &call, &mut asking);
            assert!(step.is_error && step.outcome().contains(expected), "{}", step.outcome());
        }
    }
}
