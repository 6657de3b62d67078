//! What somebody else said about a state, as lines that stand below an error.

use crate::base::Problem;

/// As many lines of Terraform's are repeated.
const LINES: usize = 12;

/// A problem of another layer: its line and place, and what stands below it.
pub fn problem(problem: &Problem) -> Vec<String> {
    let first = match problem.place {
        Some(place) => format!("{place}: {}", problem.what),
        None => problem.what.clone(),
    };
    let expected = problem.expected.iter().cloned();
    let notes = problem.notes.iter().map(|note| match note.place {
        Some(place) => format!("{} {place}", note.text),
        None => note.text.clone(),
    });
    [first].into_iter().chain(expected).chain(notes).collect()
}

/// The errors in what Terraform said on stderr, without its frames, warnings, and blank lines; all of it where no error
/// is to be found.
pub fn terraform(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| line.trim_start_matches(['│', '╷', '╵', '|']).trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let mut error = false;
    let mut errors = Vec::new();
    for line in &lines {
        if line.starts_with("Error: ") || line.starts_with("Warning: ") {
            error = line.starts_with("Error: ");
        }
        if error {
            errors.push(*line);
        }
    }
    let told = if errors.is_empty() { lines } else { errors };
    told.into_iter().take(LINES).map(str::to_owned).collect()
}
