//! Colours, each named for what it says.

use owo_colors::OwoColorize;

/// Paints text, or leaves it as it is. The streams in [`super`] take colours out again where nobody wants them,
/// so [`Paint::ON`] is right for everything that goes through them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint(bool);

impl Paint {
    pub const ON: Paint = Paint(true);
    pub const OFF: Paint = Paint(false);

    pub fn bad(self, text: &str) -> String {
        self.with(text, |t| t.red().bold().to_string())
    }

    pub fn warning(self, text: &str) -> String {
        self.with(text, |t| t.yellow().bold().to_string())
    }

    pub fn heading(self, text: &str) -> String {
        self.with(text, |t| t.bold().to_string())
    }

    pub fn quiet(self, text: &str) -> String {
        self.with(text, |t| t.dimmed().to_string())
    }

    pub fn added(self, text: &str) -> String {
        self.with(text, |t| t.green().to_string())
    }

    pub fn changed(self, text: &str) -> String {
        self.with(text, |t| t.yellow().to_string())
    }

    pub fn removed(self, text: &str) -> String {
        self.with(text, |t| t.red().to_string())
    }

    pub fn run(self, text: &str) -> String {
        self.with(text, |t| t.cyan().to_string())
    }

    fn with(self, text: &str, paint: impl Fn(&str) -> String) -> String {
        if self.0 && !text.is_empty() { paint(text) } else { text.to_owned() }
    }
}
