//! Secrets, and values that are taken as they are.

use super::{Both, Check, DEPTH, Step, ruled};
use crate::base::{Place, Plain};
use crate::data::{self, Cipher, Value};
use crate::module::config::Revealed;
use crate::module::schema::Field;
use zeroize::Zeroizing;

impl Check<'_, '_> {
    pub fn secret(&mut self, field: &Field, value: &Value) -> Option<Both> {
        match &value.kind {
            data::Kind::Secret(cipher) => Some(self.reveal(cipher, value.place)),
            data::Kind::Scalar(scalar) if self.lenient => {
                let plaintext = Zeroizing::new(scalar.text.to_string());
                Some(self.plaintext(&plaintext))
            }
            // Its text is not repeated: it may be the secret itself, in the open by mistake.
            data::Kind::Scalar(_) => {
                let problem = self.problem("is in the open, but it is a secret").at(value.place);
                let problem = problem.expected(format!("expected {}", field.kind.words()));
                self.problems.push(ruled(problem.help("`suil encrypt` makes one"), field));
                None
            }
            _ => self.mistyped(field, value),
        }
    }

    pub fn reveal(&mut self, cipher: &Cipher, place: Place) -> Both {
        let path = self.dotted();
        match (self.reveal)(cipher, place, &path) {
            Ok(Revealed::Plaintext(plaintext)) => self.plaintext(&plaintext),
            Ok(Revealed::Marker(marker)) => {
                self.revealed = false;
                Both { plain: Plain::Null, public: Plain::Str(marker) }
            }
            Err(problem) => {
                self.problems.push(match problem.place {
                    Some(_) => problem,
                    None => problem.at(place),
                });
                Plain::Null.into()
            }
        }
    }

    pub fn plaintext(&mut self, plaintext: &str) -> Both {
        self.mask.add(plaintext);
        let digest = format!("sha256:{}", crate::base::digest::sha256(plaintext.as_bytes()));
        Both { plain: Plain::from(plaintext), public: Plain::Str(digest) }
    }

    /// Takes a value as it is. Secrets are revealed where the module has no schema at all.
    pub fn raw(&mut self, value: &Value, secrets: bool) -> Both {
        if self.path.len() >= DEPTH {
            let problem = self.problem("is nested too deep").at(value.place);
            self.problems.push(problem.expected(format!("expected at most {DEPTH} levels")));
            return Plain::Null.into();
        }
        match &value.kind {
            data::Kind::Scalar(scalar) => scalar.to_plain().into(),
            data::Kind::Lookup(lookup) => Plain::Str(format!("!LOOKUP {}", lookup.field)).into(),
            data::Kind::Secret(cipher) if secrets => self.reveal(cipher, value.place),
            data::Kind::Secret(_) => {
                let problem = self.problem("is a secret inside a value of any type").at(value.place);
                let problem = problem.expected("expected a value in the open");
                self.problems.push(problem.help("declare it as `t.secret()` in the schema"));
                Plain::Null.into()
            }
            data::Kind::List(items) => {
                let (mut plain, mut public) = (Vec::new(), Vec::new());
                for (index, item) in items.iter().enumerate() {
                    let both = self.under(Step::Item { index, name: None }, |check| check.raw(item, secrets));
                    plain.push(both.plain);
                    public.push(both.public);
                }
                Both { plain: Plain::List(plain), public: Plain::List(public) }
            }
            data::Kind::Map(map) => {
                let mut both = Both { plain: Plain::map(), public: Plain::map() };
                for (key, entry) in map.iter() {
                    let found = self.under(Step::Key(key.to_string()), |check| check.raw(&entry.value, secrets));
                    both.plain.set(&**key, found.plain);
                    both.public.set(&**key, found.public);
                }
                both
            }
        }
    }
}
