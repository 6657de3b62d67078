//! From an edited view back to the file: what did not change keeps its ciphertext.

use super::super::secret::{self, Plaintext, Recipients};
use super::super::yaml::spot::{OPEN, Secret, Spot, Style};
use super::super::yaml::{spots, view_spots};
use super::layout::refill;
use super::view::View;
use super::{column, replaced};
use crate::base::{FileId, Place, Problem, Problems, Result, problem};
use crate::data::Cipher;

/// What an edit comes to.
#[derive(Debug, Default)]
pub struct Saved {
    pub bytes: Vec<u8>,
    /// The keys of the secrets whose plaintext is another one.
    pub changed: Vec<String>,
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// Plaintexts that stand in the file now, by the key that they had.
    pub bare: Vec<String>,
}

/// What is to be written for a secret of the edited view.
struct Fate<'a> {
    spot: &'a Spot,
    /// The ciphertext, old or new.
    cipher: Cipher,
    /// The secret whose place and layout it has.
    old: Option<&'a Spot>,
    /// True where the ciphertext is the old one, byte for byte.
    kept: bool,
}

impl View {
    /// Reads the edited view, and encrypts what is new in it.
    ///
    /// # Errors
    /// Everything that is wrong with it; no problem shows a line of it.
    pub fn save(&self, edited: &str, recipients: &dyn Fn() -> Result<Recipients>) -> Result<Saved> {
        let found = view_spots(&self.path, edited)?;
        let new: Vec<(&Spot, &Plaintext)> = found
            .iter()
            .filter_map(|spot| match &spot.secret {
                Secret::Open(plaintext) => Some((spot, plaintext)),
                Secret::Sealed(_) => None,
            })
            .collect();
        let pairs = self.pairs(&new);
        let mut saved = Saved::default();
        let mut problems = Problems::new();
        let mut fates = Vec::with_capacity(new.len());
        let mut whom: Option<Recipients> = None;
        for ((spot, plaintext), pair) in new.iter().zip(&pairs) {
            let old = pair.and_then(|at| self.open.get(at));
            if let Some((old, known)) = old
                && known.as_bytes() == plaintext.as_bytes()
                && let Secret::Sealed(cipher) = &old.secret
            {
                fates.push(Fate { spot, cipher: cipher.clone(), old: Some(old), kept: true });
                continue;
            }
            match old {
                Some(_) => saved.changed.push(spot.key.clone()),
                None => saved.added.push(spot.key.clone()),
            }
            if whom.is_none() {
                whom = Some(recipients()?);
            }
            let sealed = whom.iter().map(|whom| secret::encrypt(plaintext.as_bytes(), whom)).next();
            match sealed {
                Some(Ok(cipher)) => fates.push(Fate { spot, cipher, old: old.map(|(old, _)| old), kept: false }),
                Some(Err(problem)) => problems.push(problem.at(spot.place)),
                None => {}
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let used: Vec<usize> = pairs.iter().flatten().copied().collect();
        let gone = self.open.iter().enumerate().filter(|(at, _)| !used.contains(at));
        saved.removed = gone.map(|(_, (spot, _))| spot.key.clone()).collect();
        let text = self.written(edited, &found, &fates)?;
        self.leaks(&text)?;
        saved.bare = self.bare(&text);
        saved.bytes = text.into_bytes();
        Ok(saved)
    }

    /// For each secret of the edited view the one it was: first the same key with the same text, then the same text
    /// elsewhere, then the same key with other text.
    fn pairs(&self, new: &[(&Spot, &Plaintext)]) -> Vec<Option<usize>> {
        let mut pairs = vec![None; new.len()];
        let mut free: Vec<bool> = vec![true; self.open.len()];
        for (key, text) in [(true, true), (false, true), (true, false)] {
            for ((spot, plaintext), pair) in new.iter().zip(&mut pairs).filter(|(_, pair)| pair.is_none()) {
                let fits = |(at, (old, known)): &(usize, &(Spot, Plaintext))| {
                    free.get(*at) == Some(&true)
                        && (!key || old.key == spot.key)
                        && (!text || known.as_bytes() == plaintext.as_bytes())
                };
                *pair = self.open.iter().enumerate().find(fits).map(|(at, _)| at);
                if let Some(taken) = pair.and_then(|at| free.get_mut(at)) {
                    *taken = false;
                }
            }
        }
        pairs
    }

    /// The text of the file: in the layout that was there, or, where that does not fit any more, inline.
    fn written(&self, edited: &str, found: &[Spot], fates: &[Fate]) -> Result<String, Problem> {
        for inline in [false, true] {
            let values = fates.iter().map(|fate| (fate.spot.value.clone(), self.value(edited, fate, inline)));
            let text = replaced(edited, values);
            let mut sealed = fates.iter().map(|fate| &fate.cipher);
            let wanted = found.iter().filter_map(|spot| match &spot.secret {
                Secret::Sealed(cipher) => Some((&spot.key, cipher)),
                Secret::Open(_) => Some((&spot.key, sealed.next()?)),
            });
            let read = spots(&self.path, text.as_bytes()).unwrap_or_default();
            let read = read.iter().filter_map(|spot| match &spot.secret {
                Secret::Sealed(cipher) => Some((&spot.key, cipher)),
                Secret::Open(_) => None,
            });
            if wanted.eq(read) {
                return Ok(text);
            }
        }
        Err(Problem::new(format!("cannot write the secrets of `{}` into it", self.path.display()))
            .help(format!("write each as `key: {OPEN} \"…\"` on a line of its own")))
    }

    fn value(&self, edited: &str, fate: &Fate, inline: bool) -> String {
        let anchor = anchor(edited, fate.spot);
        let marker = fate.cipher.marker();
        let fresh = if fate.spot.tagged { format!("\"{marker}\"") } else { marker };
        let value = match fate.old.filter(|_| !inline) {
            Some(old) => self.as_before(edited, fate, old).unwrap_or(fresh),
            None => fresh,
        };
        match anchor {
            Some(anchor) => format!("{anchor} {value}"),
            None => value,
        }
    }

    /// The value as it stood in the file, with the ciphertext that it has now; `None` where it cannot stand like that.
    fn as_before(&self, edited: &str, fate: &Fate, old: &Spot) -> Option<String> {
        let fits = match old.style {
            Style::Inline => !fate.spot.tagged,
            Style::Quoted => true,
            Style::Block => !fate.spot.flow,
        };
        let value = self.source.get(old.value.clone()).filter(|_| fits)?;
        let value = match (&old.inside, fate.kept) {
            (_, true) => value.to_owned(),
            (Some(inside), false) => {
                let within = inside.start - old.value.start..inside.end - old.value.start;
                let filled = refill(value.get(within.clone())?, &fate.cipher.base64);
                replaced(value, [(within, filled)])
            }
            (None, false) => return None,
        };
        let (was, is) = (column(&self.source, old), column(edited, fate.spot));
        (old.style != Style::Block || was == is).then_some(value.clone()).or_else(|| moved(&value, was, is))
    }

    /// No line may leave a secret in plain text, in a comment say, because it is no value any more.
    fn leaks(&self, text: &str) -> Result<()> {
        let file = FileId::new(&self.path, "");
        let mut problems = Problems::new();
        for (line, content) in (1..).zip(text.lines()) {
            let Some(at) = content.find(OPEN).filter(|_| !self.source.lines().any(|old| old == content)) else {
                continue;
            };
            let column = content.get(..at).unwrap_or_default().chars().count() as u32 + 1;
            problems.push(
                Problem::new(format!("`{OPEN}` stands where no value is"))
                    .at(Place { file, line, column, width: 0 })
                    .expected("expected it before a value: in a comment the secret would stay in plain text")
                    .help("remove it, or make it a value"),
            );
        }
        problem::sort(&mut problems);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Which plaintexts stand in the file that did not before.
    fn bare(&self, text: &str) -> Vec<String> {
        // A short one is found by chance.
        const LEAST: usize = 6;
        let stands = |text: &str, word: &str| word.len() >= LEAST && text.contains(word);
        let open = self.open.iter().filter(|(_, plaintext)| {
            let word = plaintext.as_str().unwrap_or_default().trim();
            stands(text, word) && !stands(&self.source, word)
        });
        open.map(|(spot, _)| spot.key.clone()).collect()
    }
}

/// The anchor between the tag of a secret and its value.
fn anchor<'a>(edited: &'a str, spot: &Spot) -> Option<&'a str> {
    let behind = edited.get(spot.value.clone())?.strip_prefix(OPEN)?.trim_start();
    behind.starts_with('&').then(|| behind.split_whitespace().next())?
}

/// A block whose lines are moved from one column to another.
fn moved(value: &str, was: usize, is: usize) -> Option<String> {
    let mut lines = value.split_inclusive('\n');
    let mut out = lines.next()?.to_owned();
    for line in lines {
        if is >= was {
            out.extend(std::iter::repeat_n(' ', is - was));
            out.push_str(line);
        } else {
            let shift = was - is;
            out.push_str(line.get(..shift).filter(|blanks| blanks.trim().is_empty()).and_then(|_| line.get(shift..))?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
