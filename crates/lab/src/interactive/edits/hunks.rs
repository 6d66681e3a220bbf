//! The hunks of a patch, and where they fit into a text.

/// A place in a text that a patch changes. Lines include their ends.
#[derive(Debug, Default)]
pub(super) struct Hunk {
    /// Number of lines before it in the text that the patch was made for.
    pub start: usize,
    pub old: Vec<String>,
    pub new: Vec<String>,
}

impl Hunk {
    /// Adds a line of the patch, without its end.
    pub(super) fn push(&mut self, sign: char, text: &str) {
        if sign != '+' {
            self.old.push(format!("{text}\n"));
        }
        if sign != '-' {
            self.new.push(format!("{text}\n"));
        }
    }

    /// Removes the line end of the line that was added last.
    pub(super) fn without_line_end(&mut self, sign: char) {
        let last = |lines: &mut Vec<String>| lines.last_mut().and_then(String::pop);
        if sign != '+' {
            last(&mut self.old);
        }
        if sign != '-' {
            last(&mut self.new);
        }
    }

    fn fits(&self, lines: &[&str], place: usize) -> bool {
        let here = lines.get(place..place + self.old.len());
        here.is_some_and(|here| here.iter().zip(&self.old).all(|(line, old)| line == old))
    }
}

/// A text with hunks applied: each at the position of its header, shifted like the hunks before it, or otherwise at the
/// only position where it fits.
pub(super) fn patched(text: &str, hunks: Vec<Hunk>) -> Result<String, (usize, String)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let hunks = with_line_ends_of(&lines, hunks);
    let (mut result, mut done, mut moved) = (Vec::new(), 0, 0_i64);
    for (number, hunk) in (1..).zip(&hunks) {
        let place = place_of(&lines, hunk, moved).map_err(|reason| (number, reason))?;
        let Some(between) = lines.get(done..place) else {
            return Err((number, "overlaps the hunk before it, or is in another order".to_owned()));
        };
        result.extend_from_slice(between);
        result.extend(hunk.new.iter().map(String::as_str));
        done = place + hunk.old.len();
        moved = signed(place) - signed(hunk.start);
    }
    result.extend(lines.iter().skip(done));
    let last = result.len().saturating_sub(1);
    if result.iter().take(last).any(|line| !line.ends_with('\n')) {
        return Err((hunks.len(), "takes the end off a line that is not the last of the file".to_owned()));
    }
    Ok(result.concat())
}

fn place_of(lines: &[&str], hunk: &Hunk, moved: i64) -> Result<usize, String> {
    if hunk.old.is_empty() {
        let reason = "has no context line, so its position is unknown";
        return if lines.is_empty() { Ok(0) } else { Err(reason.to_owned()) };
    }
    if let Ok(place) = usize::try_from(signed(hunk.start) + moved)
        && hunk.fits(lines, place)
    {
        return Ok(place);
    }
    let places: Vec<usize> = (0..lines.len()).filter(|place| hunk.fits(lines, *place)).collect();
    match places.as_slice() {
        [place] => Ok(*place),
        [] => Err("fits nowhere in the file".to_owned()),
        places => Err(format!("matches {} places, but not the line in its header", places.len())),
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Restores CRs in the hunks: a patch without CRs for a text whose lines all end in CRLF lost them in transfer.
fn with_line_ends_of(lines: &[&str], mut hunks: Vec<Hunk>) -> Vec<Hunk> {
    let mut ended = lines.iter().filter(|line| line.ends_with('\n')).peekable();
    let is_crlf = ended.peek().is_some() && ended.all(|line| line.ends_with("\r\n"));
    let has_cr = hunks.iter().flat_map(|hunk| hunk.old.iter().chain(&hunk.new)).any(|line| line.contains('\r'));
    if is_crlf && !has_cr {
        for line in hunks.iter_mut().flat_map(|hunk| hunk.old.iter_mut().chain(&mut hunk.new)) {
            if line.ends_with('\n') {
                line.insert(line.len() - 1, '\r');
            }
        }
    }
    hunks
}
