//! The words that name the inputs in commands.

use super::query_request::QueryRequest;
use wavesieve_model::analysis::counter_plan::quoted;
use wavesieve_tables::trace::Trace;

/// Stands for the inputs in texts, and in commands if the inputs have no names or too many of them.
const PLACEHOLDER: &str = "INPUT";
/// Longest words that a command repeats.
const LONGEST_WORDS: usize = 400;

/// Part of paths in folders that this program makes and moves or removes: no command can name them.
const TEMPORARY: &str = "/.wavesieve-";

/// The words that name the inputs in commands, and the effective filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputWords {
    words: Vec<String>,
    filters: Vec<String>,
}

impl InputWords {
    /// The words of a trace, as its inputs were named.
    pub fn new(trace: &Trace) -> Self {
        let choice = trace.choice();
        // Values that a model wrote would come back as tokens where they are names.
        let filters = if choice.is_masked() { Vec::new() } else { choice.command_line() };
        let is_kept = !trace.inputs().iter().any(|word| word.contains(TEMPORARY));
        Self { words: if is_kept { trace.inputs().to_vec() } else { Vec::new() }, filters }
    }

    /// Words that name the inputs, not quoted.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// A text whose code names the inputs in place of `INPUT`, with the effective filters that it does not have itself.
    pub fn filled(&self, text: &str) -> String {
        let line = self.line();
        let filled = |(place, piece): (usize, &str)| {
            // Pieces with odd places stand between backticks.
            if place % 2 == 0 || !piece.split(' ').any(|word| word == PLACEHOLDER) {
                return piece.to_owned();
            }
            let words = piece.split(' ').map(|word| if word == PLACEHOLDER { &*line } else { word });
            words.map(str::to_owned).chain(self.filters_of(piece)).collect::<Vec<String>>().join(" ")
        };
        text.split('`').enumerate().map(filled).collect::<Vec<String>>().join("`")
    }

    /// The filters for a command of this program, as a shell takes them, without options that the command has.
    fn filters_of(&self, code: &str) -> Vec<String> {
        if !code.starts_with("wavesieve ") {
            return Vec::new();
        }
        let has = |option: &str| code.split(' ').any(|word| word == option);
        let mut words = Vec::new();
        let mut is_kept = false;
        for word in &self.filters {
            if word.starts_with("--") {
                is_kept = !has(word);
            }
            if is_kept {
                words.push(quoted(word));
            }
        }
        // A backtick would end the code.
        if words.iter().any(|word| word.contains('`')) { Vec::new() } else { words }
    }

    /// The command line that prints the whole result of a question.
    pub fn command_line(&self, question: &QueryRequest) -> String {
        let mut words = vec!["wavesieve".to_owned(), "table".to_owned(), question.query.clone(), self.line()];
        words.extend(question.options_line());
        words.extend(self.filters.iter().map(|word| quoted(word)));
        words.join(" ")
    }

    /// The words that name the inputs, as a shell takes them.
    fn line(&self) -> String {
        let line = self.words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ");
        // A backtick would end the code that a text has the words in.
        let fits = !line.is_empty() && line.len() <= LONGEST_WORDS && !line.contains('`');
        if fits { line } else { PLACEHOLDER.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_tables::trace::views::View;

    fn named(words: &[&str], filters: &[&str]) -> InputWords {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        InputWords { words: owned(words), filters: owned(filters) }
    }

    #[test]
    fn code_names_the_inputs() {
        let text = "INPUT stays: `wavesieve table idle_gaps INPUT --rank 3`, `--with INPUTS`";
        let filled = |words: &[&str]| named(words, &[]).filled(text);
        let of = |line: &str| format!("INPUT stays: `wavesieve table idle_gaps {line} --rank 3`, `--with INPUTS`");
        assert_eq!(filled(&["a.db"]), of("a.db"));
        assert_eq!(filled(&["my traces/*.db", "it's"]), of(r"'my traces/*.db' 'it'\''s'"));
        // Without names, with a backtick in one, and with more than anybody would paste.
        let many: Vec<String> = (0..100).map(|number| format!("rank{number}.db")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!([filled(&[]), filled(&["a`b"]), filled(&many)], [text, text, text]);
        // With the filters, unless the code has the option.
        let filtered = named(&["a.db"], &["--rank", "0,1", "--where", "gpu > 0"]);
        assert_eq!(
            filtered.filled(
                "`wavesieve check INPUT`, `wavesieve table x INPUT --rank 3`, `amd-smi INPUT`, `--with INPUTS`"
            ),
            "`wavesieve check a.db --rank 0,1 --where 'gpu > 0'`, `wavesieve table x a.db --rank 3 --where 'gpu > 0'`, `amd-smi a.db`, `--with INPUTS`"
        );
    }

    #[test]
    fn commands_have_the_options_of_their_question_and_the_filters() {
        let question = QueryRequest::new("idle_by_cause").by(&["rank", "gpu"]).of_view(View::Steady);
        let line = named(&["a b.db"], &[]).command_line(&question);
        assert_eq!(line, "wavesieve table idle_by_cause 'a b.db' --by rank,gpu --window steady");
        let line = named(&["a.db"], &["--where", "duration_ns > 5"]).command_line(&QueryRequest::new("idle_gaps"));
        assert_eq!(line, "wavesieve table idle_gaps a.db --where 'duration_ns > 5'");
    }
}
