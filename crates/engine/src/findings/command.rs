//! Commands that a finding recommends.

use itertools::Itertools as _;
use serde::Serialize;

use super::finding::Finding;
use wavesieve_model::analysis::counter_plan::quoted;

/// Options whose value is a kernel, or named after one.
const OF_KERNELS: [&str; 3] = ["--kernel-include-regex", "--kernel", "--name"];

/// A command that collects what a finding requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Program, such as `rocprofv3`.
    pub tool: String,
    pub description: String,
    /// Words of the command in order, the program first, not quoted.
    pub words: Vec<String>,
}

impl Command {
    /// The command as a shell takes it: words that need it are quoted.
    pub fn line(&self) -> String {
        self.words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
    }

    /// The options with this kernel that differ, if it is another command but for the kernel.
    fn repeats(&self, other: &Self) -> Option<Vec<String>> {
        if (&self.tool, self.words.len()) != (&other.tool, other.words.len()) {
            return None;
        }
        let mut differing = Vec::new();
        let options = [""].into_iter().chain(self.words.iter().map(String::as_str));
        let pairs = self.words.iter().zip(&other.words).zip(options);
        for ((own, _), option) in pairs.filter(|((own, others), _)| own != others) {
            if !OF_KERNELS.contains(&option) {
                return None;
            }
            differing.push(format!("{option} {}", quoted(own)));
        }
        Some(differing)
    }
}

/// The commands of a finding as readers see them.
pub struct ShownCommands<'a> {
    /// Commands that no finding before it has.
    pub own: Vec<&'a Command>,
    /// A sentence for each finding before it that has others, but for the kernel.
    pub repeated: Vec<String>,
}

/// The commands of the finding at a place, each of which is stated once in a document: later findings refer to the first one that has it.
pub fn shown_commands(findings: &[Finding], place: usize) -> ShownCommands<'_> {
    shown(findings.iter().map(|finding| finding.commands.as_slice()), place)
}

fn shown<'a>(lists: impl Iterator<Item = &'a [Command]> + Clone, place: usize) -> ShownCommands<'a> {
    let mut shown = ShownCommands { own: Vec::new(), repeated: Vec::new() };
    // The number of the other finding, how many commands it has, and the options that differ.
    let mut references: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for command in lists.clone().nth(place).unwrap_or_default() {
        let mut earlier = lists.clone().take(place).enumerate();
        let found = earlier.find_map(|(number, others)| {
            others.iter().find_map(|other| command.repeats(other)).map(|options| (number + 1, options))
        });
        match found {
            None => shown.own.push(command),
            Some((number, options)) => match references.iter_mut().find(|(known, ..)| *known == number) {
                Some((_, count, known)) => {
                    *count += 1;
                    known.extend(options);
                }
                None => references.push((number, 1, options)),
            },
        }
    }
    let sentence = |(number, count, options): (usize, usize, Vec<String>)| {
        let (noun, apply) = if count == 1 { ("The command", "applies") } else { ("The commands", "apply") };
        let options: Vec<String> = options.into_iter().unique().map(|option| format!("`{option}`")).collect();
        let with = match options.split_last() {
            Some((last, others)) if !others.is_empty() => format!(", with {} and {last}", others.join(", ")),
            Some((only, _)) => format!(", with {only}"),
            None => String::new(),
        };
        format!("{noun} of finding {number} {apply} here too{with}.")
    };
    shown.repeated = references.into_iter().map(sentence).collect();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        let words: Vec<String> = line.split(' ').map(ToOwned::to_owned).collect();
        Command { tool: words[0].clone(), description: "Trace it".to_owned(), words }
    }

    fn shown_of(lists: &[&[&str]], place: usize) -> (Vec<String>, Vec<String>) {
        let lists: Vec<Vec<Command>> =
            lists.iter().map(|lines| lines.iter().map(|line| command(line)).collect()).collect();
        let shown = shown(lists.iter().map(Vec::as_slice), place);
        (shown.own.iter().map(|command| command.line()).collect(), shown.repeated)
    }

    #[test]
    fn a_command_is_stated_once() {
        let first: &[&str] = &[
            "rocprofv3 --kernel-include-regex a --att -- ./x",
            "rocprof-compute profile --name a --kernel a -- ./x",
            "plan",
        ];
        let second: &[&str] = &[
            "rocprofv3 --kernel-include-regex b --att -- ./x",
            "rocprof-compute profile --name b --kernel b -- ./x",
            "plan",
        ];
        let third: &[&str] = &["rocprofv3 --kernel-include-regex b --att -- ./y", "plan"];
        let all = [first, second, third];
        assert_eq!(shown_of(&all, 0).0.len(), 3);
        let repeated =
            "The commands of finding 1 apply here too, with `--kernel-include-regex b`, `--name b` and `--kernel b`.";
        assert_eq!(shown_of(&all, 1), (vec![], vec![repeated.to_owned()]));
        // Another program is another command.
        let own = vec!["rocprofv3 --kernel-include-regex b --att -- ./y".to_owned()];
        assert_eq!(shown_of(&all, 2), (own, vec!["The command of finding 1 applies here too.".to_owned()]));
        assert_eq!(shown_of(&all, 3).0.len(), 0);
    }
}
