//! Side effects of commands: options that send data, and options that write files elsewhere.

use super::table::words;

/// The reason why a command is not confirmed if it sends data, or writes outside of its working directory. `reads` are
/// options that only read for this program.
pub(super) fn effect(command: &[String], reads: &[String]) -> Option<String> {
    let table = &words().commands;
    let own: Vec<&str> = command.iter().skip(1).map(String::as_str).take_while(|word| *word != "--").collect();
    let is_writing = |name: &str| has(&table.writes, name) && !has(reads, name);
    own.iter().enumerate().find_map(|(place, word)| {
        let next = own.get(place + 1).copied();
        if word.starts_with("--") {
            let (name, joined) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
            if is_sending(name) {
                return Some(format!("{name} sends data away"));
            }
            let value = joined.or(next).filter(|value| is_writing(name) && is_outside(value))?;
            return Some(outside(name, value));
        }
        // Short options may be combined, with their values attached: -qo/etc/x.
        let letters = word.strip_prefix('-')?;
        letters.char_indices().find_map(|(at, letter)| {
            let name = format!("-{letter}");
            let joined = letters.get(at + letter.len_utf8()..).map(|rest| rest.trim_start_matches('='));
            let value = joined.filter(|rest| !rest.is_empty()).or(next);
            let value = value.filter(|value| is_writing(&name) && is_outside(value))?;
            Some(outside(&name, value))
        })
    })
}

fn outside(name: &str, value: &str) -> String {
    format!("{name} writes to {value}, outside of the folder where it is run")
}

fn has(list: &[String], word: &str) -> bool {
    list.iter().any(|known| known == word)
}

/// Returns whether an option sends data. The table has whole options, or prefixes that end in a hyphen.
fn is_sending(name: &str) -> bool {
    let sends = &words().commands.sends;
    sends.iter().any(|known| known == name || known.ends_with('-') && name.starts_with(known.as_str()))
}

/// Returns whether a path may be outside of the working directory of a command; paths with shell expansions count as
/// outside.
fn is_outside(value: &str) -> bool {
    value.starts_with(['/', '~', '\\', '{']) || value.contains('$') || value.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_writing_options() {
        let problem = |line: &str| effect(&line.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>(), &[]);
        for line in ["a -o /x", "a -o/x", "a -qo/x", "a -o=/x", "a --output=~/x", "a --save $HOME", "a -d a/../../x"] {
            assert!(problem(line).is_some(), "{line}");
        }
        for line in ["a -o x", "a -i /x -o out", "a --output x /in", "a -- -o /x", "a /x -o", "a -o -"] {
            assert_eq!(problem(line), None, "{line}");
        }
        assert!(problem("a --mail-to=x").is_some());
    }
}
