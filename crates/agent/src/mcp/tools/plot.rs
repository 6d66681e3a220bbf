//! `plot`: the result of a named query as a picture.

use serde_json::{Map, Value};

use super::{Toolbox, table};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{QueryArguments, parsed};
use crate::mcp::failure::ToolFailure;
use wavesieve_report::charts::{Chart, Layout};

/// Maximum bytes of a picture.
const LARGEST_PICTURE: usize = 2 << 20;

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: QueryArguments = parsed(arguments)?;
    let query = tools.options.registry.get(&arguments.query)?;
    if query.declaration.plot.is_none() {
        let drawn = tools.options.registry.iter().filter(|query| query.declaration.plot.is_some());
        let drawn: Vec<&str> = drawn.map(|query| query.name.as_str()).collect();
        let reason = format!("{} has no picture; choose from {}", query.name, drawn.join(", "));
        return Err(ToolFailure::usage(reason));
    }
    let (mut answer, query, result) = table::run(tools, &arguments)?;
    // A result without rows has nothing to draw.
    if result.frame.height() == 0 {
        return Ok(answer);
    }
    if let Some(chart) = Chart::of_answer(&query.declaration, &result)? {
        let png = chart.png(Layout::WIDE)?;
        if png.len() > LARGEST_PICTURE {
            return Err(ToolFailure::usage("the picture is too large; narrow the result with top, by or filters"));
        }
        answer.set("description", chart.alternative());
        answer.set("picture_notes", chart.all_notes());
        answer.set_picture(png);
    }
    Ok(answer)
}
