//! A state as Terraform keeps it, format 4: its head, and resources with their instances. What suil does not know stays
//! as it is.

use super::address::{self, Address, Key, Mode, Resource, Step};
use super::json::Json;
use crate::base::digest::sha256;
use crate::base::{Problem, Result};
use indexmap::IndexMap;

/// A state. Where a layer has none, [`State::empty`] stands for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Everything but the resources, which have a place in it.
    head: IndexMap<String, Json>,
    groups: Vec<Group>,
}

/// A resource of one module, and its instances.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    module: Vec<Step>,
    mode: Mode,
    kind: String,
    name: String,
    /// Everything but the instances, which have a place in it.
    head: IndexMap<String, Json>,
    instances: Vec<Instance>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Instance {
    key: Key,
    /// The key of an object that waits for its destruction.
    deposed: Option<String>,
    object: IndexMap<String, Json>,
}

/// An object of a state, for a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    pub address: Address,
    pub provider: String,
    pub deposed: Option<String>,
    pub tainted: bool,
}

/// What a transfer makes of two states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    pub source: State,
    pub target: State,
    /// Every instance, under its old and its new address, in order.
    pub pairs: Vec<(Address, Address)>,
}

impl State {
    /// Reads a state; nothing but blanks is none. `whose` names the layer.
    ///
    /// # Errors
    /// It is no state of format 4. Nothing of it is told.
    pub fn parse(bytes: &[u8], whose: &str) -> Result<Option<State>, Problem> {
        let wrong = |why: &str| {
            Problem::new(format!("the state of `{whose}` cannot be read: {why}"))
                .expected("expected a state of format 4, as Terraform has written it since 0.12")
        };
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        let json = Json::parse(text).map_err(|why| wrong(&why))?;
        State::read(json).map(Some).map_err(|why| wrong(&why))
    }

    fn read(json: Json) -> Result<State, String> {
        let Json::Map(mut head) = json else { return Err("it is no object".to_owned()) };
        match head.get("version").and_then(Json::as_u64) {
            Some(4) => {}
            Some(other) => return Err(format!("its format is {other}")),
            None => return Err("it has no `version`".to_owned()),
        }
        if head.get("serial").and_then(Json::as_u64).is_none() {
            return Err("its `serial` is no whole number".to_owned());
        }
        if head.get("lineage").and_then(Json::as_str).is_none_or(str::is_empty) {
            return Err("it has no `lineage`".to_owned());
        }
        let mut groups = Vec::new();
        match head.insert("resources".to_owned(), Json::Null) {
            None | Some(Json::Null) => {}
            Some(Json::List(items)) => {
                for (at, item) in items.into_iter().enumerate() {
                    groups.push(Group::read(item).map_err(|why| format!("resource {}: {why}", at + 1))?);
                }
            }
            Some(_) => return Err("its `resources` are no list".to_owned()),
        }
        Ok(State { head, groups })
    }

    /// A state that holds nothing, for a layer that has none. Its first serial is 1.
    pub fn empty(lineage: &str, terraform: &str) -> State {
        let head = [
            ("version", Json::number(4)),
            ("terraform_version", Json::text(terraform)),
            ("serial", Json::number(0)),
            ("lineage", Json::text(lineage)),
            ("outputs", Json::Map(IndexMap::new())),
            ("resources", Json::Null),
            ("check_results", Json::Null),
        ];
        State { head: head.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(), groups: Vec::new() }
    }

    pub fn serial(&self) -> u64 {
        self.head.get("serial").and_then(Json::as_u64).unwrap_or_default()
    }

    pub fn lineage(&self) -> &str {
        self.head.get("lineage").and_then(Json::as_str).unwrap_or_default()
    }

    /// The version of the Terraform that wrote it.
    pub fn terraform(&self) -> &str {
        self.head.get("terraform_version").and_then(Json::as_str).unwrap_or_default()
    }

    /// Sets the serial to the one behind `serial`.
    pub fn follow(&mut self, serial: u64) {
        self.head.insert("serial".to_owned(), Json::number(serial.saturating_add(1)));
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.head.get("outputs").and_then(Json::as_map).is_none_or(IndexMap::is_empty)
    }

    /// Every object, in Terraform's order.
    pub fn items(&self) -> Vec<Item> {
        let of = |group: &Group, instance: &Instance| Item {
            address: group.address(&instance.key),
            provider: group.provider().to_owned(),
            deposed: instance.deposed.clone(),
            tainted: instance.object.get("status").and_then(Json::as_str) == Some("tainted"),
        };
        let all = self.groups.iter().flat_map(|group| group.instances.iter().map(move |instance| of(group, instance)));
        let mut items: Vec<Item> = all.collect();
        items.sort_by(|a, b| a.address.cmp(&b.address).then_with(|| a.deposed.cmp(&b.deposed)));
        items
    }

    /// The address of every instance, in Terraform's order.
    pub fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<Address> = self.items().into_iter().map(|item| item.address).collect();
        addresses.dedup();
        addresses
    }

    /// The instances that an address covers.
    pub fn covered(&self, address: &Address) -> Vec<Address> {
        self.addresses().into_iter().filter(|at| address.covers(at)).collect()
    }

    /// True where both hold the same and only the serial differs.
    pub fn is_same(&self, other: &State) -> bool {
        let plain = |state: &State| {
            let mut state = state.clone();
            state.head.shift_remove("serial");
            state
        };
        plain(self) == plain(other)
    }

    /// An object that stands in it twice.
    pub fn twice(&self) -> Option<Address> {
        let items = self.items();
        let same = |(a, b): &(&Item, &Item)| a.address == b.address && a.deposed == b.deposed;
        items.iter().zip(items.iter().skip(1)).find(same).map(|(item, _)| item.address.clone())
    }

    /// The state as Terraform writes it.
    pub fn to_json(&self) -> Json {
        let mut head = self.head.clone();
        head.insert("resources".to_owned(), Json::List(self.groups.iter().map(Group::to_json).collect()));
        Json::Map(head)
    }

    pub fn text(&self) -> String {
        self.to_json().pretty()
    }

    /// A digest of what it holds, whatever its serial and whoever wrote it: the order of resources, of instances, of
    /// dependencies and of keys is not part of it.
    pub fn digest(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for group in &self.groups {
            let mut head = group.head.clone();
            head.shift_remove("instances");
            let head = sorted(&Json::Map(head)).line();
            lines.extend(group.instances.iter().map(|instance| {
                let object = sorted(&Json::Map(instance.object.clone())).line();
                format!("{}\n{head}\n{object}", group.address(&instance.key))
            }));
        }
        lines.sort();
        let outputs = self.head.get("outputs").map(sorted).unwrap_or_default();
        lines.push(outputs.line());
        lines.push(self.lineage().to_owned());
        sha256(lines.join("\n").as_bytes())
    }

    /// Every object under its address, those that wait for their destruction included.
    pub fn objects(&self) -> impl Iterator<Item = (Address, Json)> {
        let of =
            |group: &Group, instance: &Instance| (group.address(&instance.key), Json::Map(instance.object.clone()));
        self.groups.iter().flat_map(move |group| group.instances.iter().map(move |instance| of(group, instance)))
    }

    fn group(&self, like: &Group) -> Option<usize> {
        self.groups.iter().position(|group| group.same(like))
    }
}

/// The same value with its keys, and the lists that are sets, in order.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Map(map) => {
            let mut pairs: Vec<(String, Json)> = map.iter().map(|(key, item)| (key.clone(), sorted(item))).collect();
            for (key, item) in &mut pairs {
                if let (true, Json::List(items)) = (key == "dependencies" || key == "sensitive_attributes", item) {
                    items.sort_by_cached_key(Json::line);
                }
            }
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            Json::Map(pairs.into_iter().collect())
        }
        Json::List(items) => Json::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

impl Group {
    fn read(json: Json) -> Result<Group, String> {
        let Json::Map(mut head) = json else { return Err("it is no object".to_owned()) };
        let text = |key: &str| head.get(key).and_then(Json::as_str).map(str::to_owned);
        let needed = |key: &str| text(key).ok_or_else(|| format!("it has no `{key}`"));
        let module =
            address::Address::module(&text("module").unwrap_or_default()).map_err(|e| format!("`module`: {e}"))?;
        let mode = Mode::read(&needed("mode")?).ok_or("its `mode` is not known")?;
        let (kind, name) = (needed("type")?, needed("name")?);
        let items = match head.insert("instances".to_owned(), Json::Null) {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::List(items)) => items,
            Some(_) => return Err("its `instances` are no list".to_owned()),
        };
        let instances = items.into_iter().map(Instance::read).collect::<Result<_, _>>()?;
        Ok(Group { module, mode, kind, name, head, instances })
    }

    fn address(&self, key: &Key) -> Address {
        let (kind, name) = (self.kind.clone(), self.name.clone());
        let resource = Resource { mode: self.mode, kind, name, key: key.clone() };
        Address { module: self.module.clone(), resource: Some(resource) }
    }

    fn provider(&self) -> &str {
        self.head.get("provider").and_then(Json::as_str).unwrap_or_default()
    }

    fn same(&self, other: &Group) -> bool {
        self.module == other.module && self.mode == other.mode && self.kind == other.kind && self.name == other.name
    }

    /// The same resource, without instances, where `address` is.
    fn at(&self, address: &Address) -> Group {
        let mut group = Group { instances: Vec::new(), module: address.module.clone(), ..self.clone() };
        if let Some(resource) = &address.resource {
            group.name.clone_from(&resource.name);
        }
        group.head.insert("name".to_owned(), Json::text(&group.name));
        group.head.shift_remove("module");
        if !group.module.is_empty() {
            group.head.shift_insert(0, "module".to_owned(), Json::text(address::module(&group.module)));
        }
        group
    }

    fn to_json(&self) -> Json {
        let mut head = self.head.clone();
        let instances = self.instances.iter().map(|instance| Json::Map(instance.object.clone())).collect();
        head.insert("instances".to_owned(), Json::List(instances));
        Json::Map(head)
    }
}

impl Instance {
    fn read(json: Json) -> Result<Instance, String> {
        let Json::Map(object) = json else { return Err("an instance is no object".to_owned()) };
        let key = match object.get("index_key") {
            None | Some(Json::Null) => Key::None,
            Some(Json::Text(text)) => Key::Text(text.clone()),
            Some(number) => Key::Number(number.as_u64().ok_or("an `index_key` is neither text nor a whole number")?),
        };
        let deposed = object.get("deposed").and_then(Json::as_str).filter(|key| !key.is_empty()).map(str::to_owned);
        Ok(Instance { key, deposed, object })
    }

    /// The same object under another key.
    fn under(mut self, key: &Key) -> Instance {
        self.object.shift_remove("index_key");
        let index = match key {
            Key::None => None,
            Key::Number(number) => Some(Json::number(*number)),
            Key::Text(text) => Some(Json::text(text)),
        };
        if let Some(index) = index {
            self.object.shift_insert(0, "index_key".to_owned(), index);
        }
        self.key = key.clone();
        self
    }
}

mod transfer;
pub use transfer::{absent, transfer};

#[cfg(test)]
pub(super) mod tests;
