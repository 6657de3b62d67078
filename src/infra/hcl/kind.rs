//! The types of values, and the one type that both sides of a conditional are made.

use super::eval::Computed;
use indexmap::IndexMap;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Type {
    Null,
    Bool,
    Number,
    Text,
    List(Vec<Type>),
    /// A list of one type, however long.
    Each(Box<Type>),
    Map(IndexMap<String, Type>),
    /// A map of one type, whatever its keys.
    Every(Box<Type>),
}

impl Type {
    pub fn of(value: &Computed) -> Type {
        match value {
            Computed::Null => Type::Null,
            Computed::Bool(_) => Type::Bool,
            Computed::Number(_) => Type::Number,
            Computed::Text(_) => Type::Text,
            Computed::List(items) => Type::List(items.iter().map(Type::of).collect()),
            Computed::Map(map) => Type::Map(map.iter().map(|(key, item)| (key.clone(), Type::of(item))).collect()),
        }
    }

    /// The type that values of both can become, or nothing.
    pub fn common(&self, other: &Type) -> Option<Type> {
        Some(match (self, other) {
            (a, b) if a == b => a.clone(),
            (Type::Null, any) | (any, Type::Null) => any.clone(),
            (Type::Text, Type::Bool | Type::Number) | (Type::Bool | Type::Number, Type::Text) => Type::Text,
            (Type::List(a), Type::List(b)) if a.len() == b.len() => {
                Type::List(a.iter().zip(b).map(|(a, b)| a.common(b)).collect::<Option<_>>()?)
            }
            (Type::List(_) | Type::Each(_), Type::List(_) | Type::Each(_)) => {
                Type::Each(Box::new(common_of(self.inner().chain(other.inner()))?))
            }
            (Type::Map(a), Type::Map(b)) if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) => {
                let both = a.iter().map(|(key, a)| Some((key.clone(), a.common(b.get(key)?)?)));
                Type::Map(both.collect::<Option<_>>()?)
            }
            (Type::Map(_) | Type::Every(_), Type::Map(_) | Type::Every(_)) => {
                Type::Every(Box::new(common_of(self.inner().chain(other.inner()))?))
            }
            _ => return None,
        })
    }

    fn inner(&self) -> Box<dyn Iterator<Item = &Type> + '_> {
        match self {
            Type::List(items) => Box::new(items.iter()),
            Type::Map(map) => Box::new(map.values()),
            Type::Each(one) | Type::Every(one) => Box::new(std::iter::once(&**one)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Makes `value` one of this type, which it can become.
    pub fn convert(&self, value: Computed) -> Computed {
        match (self, value) {
            (Type::Text, value @ (Computed::Bool(_) | Computed::Number(_))) => match value.to_text() {
                Some(text) => Computed::Text(text),
                None => value,
            },
            (Type::List(types), Computed::List(items)) => {
                Computed::List(types.iter().zip(items).map(|(one, item)| one.convert(item)).collect())
            }
            (Type::Each(one), Computed::List(items)) => {
                Computed::List(items.into_iter().map(|item| one.convert(item)).collect())
            }
            (Type::Map(types), Computed::Map(map)) => {
                let items = map.into_iter().map(|(key, item)| match types.get(&key) {
                    Some(one) => (key, one.convert(item)),
                    None => (key, item),
                });
                Computed::Map(items.collect())
            }
            (Type::Every(one), Computed::Map(map)) => {
                Computed::Map(map.into_iter().map(|(key, item)| (key, one.convert(item))).collect())
            }
            (_, value) => value,
        }
    }
}

fn common_of<'a>(mut types: impl Iterator<Item = &'a Type>) -> Option<Type> {
    let first = types.next()?.clone();
    types.try_fold(first, |so_far, next| so_far.common(next))
}
