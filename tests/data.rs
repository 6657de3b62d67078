//! The shared corpora, as far as loading, merging and opening secrets goes. The catalogue has the rest.

use std::path::{Path, PathBuf};
use suil::base::{Mask, Plain, Problem, Problems};
use suil::data::{Keys, Tagged, Value, Vault, load, merge};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn case(name: &str) -> PathBuf {
    root().join("cases/open").join(name)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn text_of(path: &Path) -> String {
    String::from_utf8(read(path)).expect("UTF-8")
}

fn vault(keys: &str) -> Vault {
    Vault::new(Some(Keys::parse(&text_of(&root().join(keys)), "keys").expect("keys")), Mask::new())
}

/// Loads one file of a workspace under the path that a person would type.
fn layer(workspace: &Path, file: &str) -> Result<Option<Tagged>, Problems> {
    load(Path::new(file), &read(&workspace.join(file)))
}

/// Merges the files of a workspace, lowest first; those that are not there are empty.
fn merged(workspace: &Path, files: &[String]) -> Result<Value, Problems> {
    let mut value = None;
    for file in files.iter().filter(|file| workspace.join(file).exists()) {
        if let Some(layer) = layer(workspace, file)? {
            value = merge(value, &layer.filtered(|key| key != "role" && key != "modules"))?;
        }
    }
    Ok(value.expect("some data"))
}

/// The tree with secrets as digests.
fn public(value: &Value, vault: &Vault) -> Plain {
    value.to_plain(&mut |cipher, place| Plain::Str(vault.public(cipher, "field", place).expect("a digest")))
}

/// Everything that a problem says.
fn words(problem: &Problem) -> String {
    let place = |p: Option<suil::base::Place>| p.map(|p| p.to_string()).unwrap_or_default();
    let mut out = format!("{} {} {:?} {:?}", place(problem.place), problem.what, problem.expected, problem.help);
    for note in &problem.notes {
        out.push_str(&format!(" {} {}", note.text, place(note.place)));
    }
    out
}

fn all_words(problems: &Problems) -> String {
    problems.iter().map(words).collect::<Vec<_>>().join("\n")
}

mod conformance {
    use super::*;

    /// The cases of one node whose layers are the workspace's own `modules`, `roles` and `nodes` files.
    #[test]
    fn loading_and_merging_gives_the_expected_data() {
        let vault = vault("conformance/suil/keys/TEST-ONLY-identity.txt");
        let mut seen = 0;
        for (name, folder, about) in cases() {
            let number: u32 = name.split('-').next().and_then(|n| n.parse().ok()).expect("a number");
            let follows = matches!(about.get("peer").and_then(Plain::as_str), Some("follow" | "decide"));
            let ours = [101..=107, 109..=230, 501..=520, 601..=650].iter().any(|range| range.contains(&number));
            if !ours || !follows || about.get("expect").and_then(Plain::as_str) != Some("ok") {
                continue;
            }
            let want = Plain::from_yaml(&text_of(&folder.join("expected.yaml"))).expect("yaml");
            for node in want.get("nodes").and_then(Plain::as_list).expect("nodes") {
                let node_name = node.get("name").and_then(Plain::as_str).expect("name");
                let modules = node.get("modules").and_then(Plain::as_list).unwrap_or_default();
                let mut files: Vec<String> = Vec::new();
                files.extend(modules.iter().filter_map(Plain::as_str).map(|m| format!("data/modules/{m}.yaml")));
                files.push("data/roles/reef.yaml".to_owned());
                files.push(format!("data/nodes/{node_name}.yaml"));
                let workspace = folder.join("workspace");
                let got =
                    merged(&workspace, &files).unwrap_or_else(|problems| panic!("{name}: {}", all_words(&problems)));
                let mut got = public(&got, &vault);
                if name.starts_with("229") {
                    continue; // its lookups are expanded by the catalogue
                }
                if let Plain::Map(map) = &mut got {
                    map.shift_remove("deployment");
                }
                let want = node.get("data").cloned().unwrap_or_default();
                assert_eq!(got.to_json(), want.to_json(), "{name}, {node_name}");
                seen += 1;
            }
        }
        assert!(seen >= 25, "only {seen} nodes were compared");
    }

    #[test]
    fn every_file_with_a_fault_is_refused_and_the_fault_is_named() {
        let mut seen = 0;
        for (name, folder, about) in cases() {
            let fault_of_a_file = [
                "213", "225", "227", "321", "410", "411", "414", "415", "602", "603", "605", "606", "607", "622",
                "623", "625", "631", "638", "639",
            ];
            if !fault_of_a_file.iter().any(|number| name.starts_with(number)) {
                continue;
            }
            let contains = about.get("error_contains").and_then(Plain::as_str).expect("error_contains");
            let problems: Problems = load_all(&folder.join("workspace")).into_iter().flatten().collect();
            assert!(all_words(&problems).contains(contains), "{name} names no `{contains}`: {problems:?}");
            assert!(problems.iter().all(|problem| problem.place.is_some()), "{name}: {problems:?}");
            seen += 1;
        }
        assert_eq!(seen, 19);
    }

    #[test]
    fn every_other_file_loads() {
        for (name, folder, about) in cases() {
            if about.get("peer").and_then(Plain::as_str) == Some("deviate")
                || about.get("expect").and_then(Plain::as_str) != Some("ok")
            {
                continue;
            }
            let problems: Problems = load_all(&folder.join("workspace")).into_iter().flatten().collect();
            assert!(problems.is_empty(), "{name}: {}", all_words(&problems));
        }
    }

    /// Where the Python suil is wrong about a file, the place and the words of the right answer.
    #[test]
    fn each_deviating_file_is_refused_for_the_right_reason() {
        for (case, wanted) in [
            ("211-", vec!["kelp-01.reef.test.yaml:8:3", "`surf.f` has no value"]),
            ("405-", vec!["reef.yaml:7:46", "{value:>4}"]),
            ("413-", vec!["reef.yaml:2:46", "`no`", "`exclude`"]),
            ("417-", vec!["reef.yaml:2:48", "{host}", "surf.peers"]),
            ("418-", vec!["reef.yaml:2:48", "`format`", "a string"]),
            ("507-", vec![":3:19", "surf.wrong_alphabet", ":4:13", "surf.unclosed", ":6:10", "surf.empty"]),
            ("511-", vec!["kelp-01.reef.test.yaml:3:8", "surf.pin", "more text"]),
            ("609-", vec!["surf.big.0", "surf.big.1", "64 bits"]),
            ("617-", vec![":4:3", ":3:3", "surf.port", ":6:3", ":5:3", "surf.map"]),
            ("618-", vec!["roles/reef.yaml:3:1", "roles/reef.yaml:1:1", "modules"]),
            ("621-", vec!["kelp-01.reef.test.yaml:2:17", "0xe9", "UTF-8"]),
            ("629-", vec!["`2.5`", "`2031-01-02`", "`yes`", "`~`"]),
            ("630-", vec!["`yes`", "`1.0`"]),
            ("633-", vec!["kelp-01.reef.test.yaml:3:20", "`loop`", "itself"]),
            ("635-", vec!["kelp-01.reef.test.yaml", "too deep", "128"]),
            ("641-", vec!["surf.x", "surf.l.0", "not a number"]),
        ] {
            let (name, folder, _) = cases().into_iter().find(|(name, ..)| name.starts_with(case)).expect(case);
            let problems: Problems = load_all(&folder.join("workspace")).into_iter().flatten().collect();
            let said = all_words(&problems);
            for word in wanted {
                assert!(said.contains(word), "{name} names no `{word}`:\n{said}");
            }
        }
    }

    /// Where the Python suil is wrong about a value, the right one.
    #[test]
    fn each_deviating_value_is_the_better_one() {
        let vault = vault("conformance/suil/keys/TEST-ONLY-identity.txt");
        let door = "sha256:b9acbc3063474cb39807cc604c0faf51584003a02372648248252d7db98a8c1b";
        for (case, want) in [
            ("107-", r#"{"modules":["a","a","b","b","c"],"kernel":{"modules":["e","e","f"]},"other":["a","a"]}"#),
            ("210-", r#"{"ports":[443,8080],"ports2":[443],"flags":[true,"1",1.0],"zero":[0,"0",""]}"#),
            ("215-", r#"{"a":{"l":[2],"n":{}},"b":["y"]}"#),
            ("218-", r#"{"l":[1,2,3],"d":{"a":1,"b":2,"c":3},"m":[{"name":"x","v":1,"w":2}],"x":[2],"plain":[1,2]}"#),
            ("230-", r#"{"l":["a","b","c"],"m":[{"name":"a","v":1}]}"#),
            ("231-", r#"{"m":{"b":2}}"#),
            (
                "610-",
                r#"{"plain":[1.5,-0.25,0.5,1.0,1000.5,1.0,10.1],"exponent":[1500.0,0.0015,1500.0,5.0],"text":[1000.0,1500.0,1000.0,"1.2.3","1.5","."],"special":[null,null,null,null],"sixty":["1:2.5","20:30.15"]}"#,
            ),
            (
                "611-",
                r#"{"date":"2031-01-02","stamp":"2031-01-02T03:04:05Z","offset":"2031-01-02T03:04:05.25+02:00","spaced":"2031-01-02 03:04:05","text":["2031-1-2","2031-01-02","2031-01",20310102]}"#,
            ),
            ("626-", r#"{"a":1}"#),
            ("643-", r#"{"a":{"v":1},"b":{"v":2},"c":{"v":2}}"#),
        ] {
            let (name, folder, _) = cases().into_iter().find(|(name, ..)| name.starts_with(case)).expect(case);
            let files = ["data/modules/surf.yaml", "data/roles/reef.yaml", "data/nodes/kelp-01.reef.test.yaml"]
                .map(str::to_owned);
            let got = merged(&folder.join("workspace"), &files).unwrap_or_else(|p| panic!("{name}: {}", all_words(&p)));
            let got = public(got.get("surf").expect("surf"), &vault);
            assert_eq!(got.to_json_line(), want, "{name}");
        }
        for case in ["509-", "510-"] {
            let (name, folder, _) = cases().into_iter().find(|(name, ..)| name.starts_with(case)).expect(case);
            let got =
                merged(&folder.join("workspace"), &["data/nodes/kelp-01.reef.test.yaml".to_owned()]).expect(&name);
            assert!(public(&got, &vault).to_json().contains(door), "{name}");
        }
    }

    #[test]
    fn a_secret_for_another_key_and_a_damaged_one_are_told_apart_and_named() {
        let vault = vault("conformance/suil/keys/TEST-ONLY-identity.txt");
        for (case, wanted) in [("505-", "encrypted for another key"), ("506-", "damaged ciphertext")] {
            let (name, folder, _) = cases().into_iter().find(|(name, ..)| name.starts_with(case)).expect(case);
            let said = match layer(&folder.join("workspace"), "data/nodes/kelp-01.reef.test.yaml") {
                Err(problems) => all_words(&problems),
                Ok(layer) => {
                    let value = layer.expect("a layer").settle().expect("plain").expect("a value");
                    let secret = value.get("surf").and_then(|surf| surf.get("pin")).expect("a secret");
                    let suil::data::Kind::Secret(cipher) = &secret.kind else { panic!("{name}: {secret:?}") };
                    words(&vault.public(cipher, "surf.pin", secret.place).expect_err(&name))
                }
            };
            for word in [wanted, "surf.pin", "data/nodes/kelp-01.reef.test.yaml:3:8"] {
                assert!(said.contains(word), "{name} names no `{word}`: {said}");
            }
        }
    }

    fn cases() -> Vec<(String, PathBuf, Plain)> {
        let folder = root().join("conformance/suil/cases");
        let entries = std::fs::read_dir(folder).expect("the corpus");
        let mut cases: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        cases.sort();
        let read = |path: PathBuf| {
            let about = Plain::from_yaml(&text_of(&path.join("case.yaml"))).expect("case.yaml");
            (path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(), path, about)
        };
        cases.into_iter().map(read).collect()
    }

    /// The problems of each data file of a workspace.
    fn load_all(workspace: &Path) -> Vec<Problems> {
        let mut problems = Vec::new();
        let mut open = vec![workspace.to_owned()];
        while let Some(folder) = open.pop() {
            let entries = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
            for path in entries {
                let shown = path.strip_prefix(workspace).expect("inside").to_owned();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|e| e == "yaml") && !shown.starts_with("facts") {
                    problems.extend(load(&shown, &read(&path)).err());
                }
            }
        }
        problems
    }
}

mod open_cases {
    use super::*;

    const NODE: &str = "data/nodes/n1.example.net.yaml";

    fn expect(name: &str) -> Plain {
        Plain::from_json(&text_of(&case(name).join("expect.json"))).expect("expect.json")
    }

    /// True where `got` is what is wanted, `any` and `never` included. A missing value is "absent".
    fn fits(want: &Plain, got: Option<&Plain>) -> bool {
        if let Some(any) = want.get("any").and_then(Plain::as_list) {
            let never = want.get("never");
            return never != got && any.iter().any(|want| fits(want, got));
        }
        match (want, got) {
            (Plain::Str(word), None) => word == "absent",
            (Plain::Map(want), Some(Plain::Map(got))) => {
                let no_more = got.keys().all(|key| want.contains_key(key));
                no_more && want.iter().all(|(key, want)| fits(want, got.get(key)))
            }
            (want, got) => Some(want) == got,
        }
    }

    #[test]
    fn d01_a_key_given_twice_is_an_error_with_both_lines() {
        let input = case("D01-duplicate-keys").join("input");
        let mut problems = Problems::new();
        for file in ["data/roles/web.yaml", "data/nodes/web-1.example.net.yaml"] {
            problems.extend(layer(&input, file).expect_err(file));
        }
        let said = all_words(&problems);
        let wanted = expect("D01-duplicate-keys");
        for word in wanted.get("contains").and_then(Plain::as_list).expect("contains") {
            assert!(said.contains(word.as_str().expect("a word")), "{word:?}: {said}");
        }
        assert!(said.contains("web.yaml:6:1") && said.contains("web.yaml:2:1"), "{said}");
        assert!(said.contains("yaml:6:7") && said.contains("yaml:5:7"), "{said}");
    }

    #[test]
    fn d03_the_text_of_a_mode_is_still_there() {
        let input = case("D03-file-modes").join("input");
        let node = merged(&input, &[NODE.to_owned()]).expect("loads");
        let list = node.get("files").and_then(|v| v.get("list")).and_then(Value::list).expect("a list");
        let texts: Vec<&str> = list.iter().map(|item| &*item.get("mode").unwrap().scalar().unwrap().text).collect();
        assert_eq!(texts, ["0644", "0644", "644", "0o644", "644", "2775", "0999", "u=rw,g=r"]);
    }

    #[test]
    fn d04_anchors_and_merge_keys() {
        let input = case("D04-anchors-and-merge-keys").join("input");
        let node = merged(&input, &[NODE.to_owned()]).expect("loads");
        let wanted = expect("D04-anchors-and-merge-keys");
        let got = public(&node, &Vault::default());
        assert!(fits(wanted.get("value").expect("value"), got.get("nginx")), "{}", got.to_json());
        let said = all_words(&layer(&input, "bad/alias-from-other-file.yaml").expect_err("refused"));
        assert!(said.contains("bad/alias-from-other-file.yaml:3:9 unknown alias `base`"), "{said}");
    }

    #[test]
    fn d05_lists_over_three_layers() {
        let input = case("D05-list-rules-and-leftover-tags").join("input");
        let files = ["modules/pk/data/defaults.yaml", "data/roles/web.yaml", NODE].map(str::to_owned);
        let got = public(&merged(&input, &files).expect("merges"), &Vault::default());
        let wanted = expect("D05-list-rules-and-leftover-tags");
        assert!(fits(wanted.get("value").expect("value"), got.get("pk")), "{}", got.to_json());
        // The guard itself: what may never be is refused.
        let never = Plain::from_json(r#"{"any": [[], "absent"], "never": ["ghost"]}"#).expect("json");
        assert!(!fits(&never, Some(&Plain::List(vec!["ghost".into()]))) && fits(&never, None));
    }

    #[test]
    fn s01_every_spelling_of_a_secret() {
        let input = case("S01-secret-spellings").join("input");
        let wanted = expect("S01-secret-spellings");
        let vault = vault("cases/keys/test-identities.txt");
        for file in [NODE, "data/nodes/n2-crlf.example.net.yaml"] {
            let got = public(&merged(&input, &[file.to_owned()]).expect("loads"), &vault);
            for (path, digest) in wanted.get("values").and_then(Plain::as_map).expect("values") {
                assert_eq!(at(&got, path), Some(digest), "{file}: {path}");
            }
            for (path, text) in wanted.get("plain").and_then(Plain::as_map).expect("plain") {
                assert_eq!(at(&got, path), Some(text), "{file}: {path}");
            }
        }
        for (file, key) in [("flow/seq.yaml", "flow_seq"), ("flow/map.yaml", "flow_map")] {
            let got = public(&merged(&input, &[file.to_owned()]).expect("loads"), &vault);
            let any = wanted.get("any").and_then(|any| any.get(file)).expect("any").clone();
            let any = Plain::from_iter([("any", any)]);
            assert!(fits(&any, got.get("app").and_then(|app| app.get(key))), "{file}: {}", got.to_json());
        }
    }

    #[test]
    fn s01_a_truncated_secret_is_damaged_and_its_field_is_named() {
        let input = case("S01-secret-spellings").join("input");
        let vault = vault("cases/keys/test-identities.txt");
        let said = match layer(&input, "bad/truncated.yaml") {
            Err(problems) => all_words(&problems),
            Ok(layer) => {
                let value = layer.expect("a layer").settle().expect("plain").expect("a value");
                let secret = value.get("app").and_then(|app| app.get("t")).expect("a secret");
                let suil::data::Kind::Secret(cipher) = &secret.kind else { panic!("{secret:?}") };
                words(&vault.reveal(cipher, "app.t", secret.place).expect_err("damaged"))
            }
        };
        for word in ["bad/truncated.yaml:4:6", "app.t", "damaged ciphertext"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(!said.contains("another key"), "{said}");
    }

    #[test]
    fn s01_loading_decrypts_nothing() {
        let input = case("S01-secret-spellings").join("input");
        let value = merged(&input, &[NODE.to_owned()]).expect("loads without a key");
        assert_eq!(at(&public(&value, &Vault::default()), "app.inline"), Some(&"secret (no key)".into()));
    }

    #[test]
    fn s03_what_goes_in_comes_out_byte_for_byte() {
        let folder = case("S03-secret-bytes").join("input/plain");
        let vault = vault("cases/keys/test-identities.txt");
        let keys = Keys::parse(&text_of(&root().join("cases/keys/test-identities.txt")), "keys").expect("keys");
        let wanted = expect("S03-secret-bytes");
        for (name, digest) in wanted.get("digests").and_then(Plain::as_map).expect("digests") {
            let bytes = read(&folder.join(format!("{name}.bin")));
            let cipher = suil::data::secret::encrypt(&bytes, &keys.recipients()).expect("encrypts");
            let folded: Vec<String> =
                cipher.marker().as_bytes().chunks(60).map(|c| format!("    {}", String::from_utf8_lossy(c))).collect();
            let file = format!("app:\n  inline: {}\n  block: >-\n{}\n", cipher.marker(), folded.join("\n"));
            let layer = load(Path::new("node.yaml"), file.as_bytes()).expect("loads").expect("a layer");
            let value = layer.settle().expect("plain").expect("a value");
            for key in ["inline", "block"] {
                let secret = value.get("app").and_then(|app| app.get(key)).expect("a secret");
                let suil::data::Kind::Secret(cipher) = &secret.kind else { panic!("{secret:?}") };
                let plaintext = vault.reveal(cipher, key, secret.place).expect("opens");
                assert_eq!(plaintext.as_bytes(), bytes, "{name}, {key}");
                assert_eq!(Some(&*plaintext.digest()), digest.as_str(), "{name}, {key}");
            }
        }
        let empty = read(&folder.join("09-empty.bin"));
        let refused = suil::data::secret::encrypt(&empty, &keys.recipients()).expect_err("refused");
        assert!(refused.what.contains("nothing to encrypt"), "{refused:?}");
    }

    /// `app.seq[0]` in a tree.
    fn at<'a>(value: &'a Plain, path: &str) -> Option<&'a Plain> {
        let path = path.replace('[', ".").replace(']', "");
        value.at(&path.split('.').collect::<Vec<_>>())
    }
}
