//! The examples in docs/ci, run as a forge would run them: their steps as they stand, each job in a clone of its own, on
//! a bare repository and nodes that are this machine. Only what belongs to a forge is stood in for: checkouts, artifacts,
//! comments.

#![allow(clippy::disallowed_methods)]

#[path = "local/room.rs"]
mod room;

use room::{binary, give};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const NOBODY: u32 = 65534;
const IDENTITY: &str = "AGE-SECRET-KEY-12GYFDP8EJUL8X9LYVLFEDFMTRPFRA8EF9U5LW70KL0UJL3R60FPSCTX67M";
const RECIPIENT: &str = "age1t2k99x76e30vpcas8he2mc7ezaplyc400ap32l83zjthzwp469fsfyqpv2";
const SECRET: &str = "canary-of-ci";

/// A desk, a forge, runners and nodes.
struct Site {
    folder: TempDir,
}

/// How a script ended, and what it said on both channels.
#[derive(Debug)]
struct Ran {
    status: i32,
    said: String,
}

impl Ran {
    #[track_caller]
    fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}", self.said);
        self
    }
}

impl Site {
    /// A repository whose main branch holds a workspace with two web nodes and a database.
    fn new() -> Site {
        let site = Site { folder: tempfile::tempdir().expect("a folder") };
        for folder in ["bin", "home", "run", "node", "desk/modules/demo/code", "desk/data/roles", "desk/data/nodes"] {
            fs::create_dir_all(site.at(folder)).expect("a folder");
        }
        symlink(binary(), site.at("bin/suil")).expect("suil");
        site.tool("gh", "[ \"$1 $2\" = 'pr comment' ] && cp \"$5\" \"$SITE/comment.md\"");
        site.tool("curl", "for word; do case $word in body@*) cp \"${word#body@}\" \"$SITE/comment.md\" ;; esac; done");
        site.desk("data/common.yaml", COMMON);
        site.desk("data/roles/web.yaml", "modules: [demo]\ndemo: {text: one}\n");
        site.desk("data/roles/db.yaml", "modules: [demo]\n");
        for (node, role) in [("web-1", "web"), ("web-2", "web"), ("db-1", "db")] {
            site.desk(&format!("data/nodes/{node}.yaml"), &format!("role: {role}\n"));
        }
        site.desk(
            "modules/demo/code/config.star",
            "Config = schema(text = t.string(default = \"none\"), key = t.secret())\n",
        );
        let main = "def resources(config):\n    name = \"@/\" + config.suil.node\n    return [file(name, content = config.text + \"\\n\" + config.key + \"\\n\", mode = \"0600\")]\n";
        site.desk("modules/demo/code/main.star", &main.replace('@', &site.at("node").display().to_string()));
        site.desk(".gitignore", ".runs/\nfacts/\n.env\n/plan.*\n/apply.*\n");
        let settings = [("SUIL_AGE_RECIPIENT".to_owned(), RECIPIENT.to_owned())];
        let marker = site.shell("desk", &settings, &format!("suil encrypt {SECRET}")).expect(0).said;
        site.desk("data/all.yaml", &format!("demo: {{key: {}}}\n", marker.trim()));
        let begin =
            "git init -q --bare ../forge.git -b main && git init -q -b main . && git remote add origin ../forge.git";
        site.shell("desk", &[], &format!("{begin} && git add -A && git commit -qm begin && git push -q origin main"))
            .expect(0);
        site
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn desk(&self, path: &str, text: &str) {
        fs::write(self.at("desk").join(path), text).expect("a file of the desk");
    }

    fn tool(&self, name: &str, body: &str) {
        fs::write(self.at("bin").join(name), format!("#!/bin/sh\n{body}\n")).expect("a tool");
        fs::set_permissions(self.at("bin").join(name), fs::Permissions::from_mode(0o755)).expect("its mode");
    }

    /// What the nodes hold, in the order of their names; `none` where nothing was applied.
    fn nodes(&self) -> [String; 3] {
        ["db-1", "web-1", "web-2"].map(|node| {
            let text = fs::read_to_string(self.at("node").join(node)).unwrap_or_else(|_| "none".to_owned());
            text.replace(&format!("\n{SECRET}\n"), "+key")
        })
    }

    fn comment(&self) -> String {
        fs::read_to_string(self.at("comment.md")).unwrap_or_default()
    }

    /// Runs a script in a folder of the site, in an environment of nothing but `variables`.
    fn shell(&self, folder: &str, variables: &[(String, String)], script: &str) -> Ran {
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-e", "-c", script])
            .current_dir(self.at(folder))
            .env_clear()
            .env("HOME", self.at("home"))
            .env("SITE", self.folder.path())
            .env("XDG_RUNTIME_DIR", self.at("run"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display()))
            .envs([
                ("GIT_AUTHOR_NAME", "a"),
                ("GIT_AUTHOR_EMAIL", "a@b"),
                ("GIT_COMMITTER_NAME", "a"),
                ("GIT_COMMITTER_EMAIL", "a@b"),
            ])
            .envs(variables.iter().cloned())
            .stdin(Stdio::null());
        if rustix::process::getuid().is_root() {
            give(self.folder.path());
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().expect("bash");
        let said = [output.stdout, output.stderr].concat();
        Ran { status: output.status.code().unwrap_or(-1), said: String::from_utf8_lossy(&said).into_owned() }
    }

    /// Commits what stands on the desk to a branch, and pushes it.
    fn push(&self, branch: &str) {
        let script = format!(
            "git checkout -q -B {branch} && git add -A && git commit -qm change && git push -q origin {branch}"
        );
        self.shell("desk", &[], &script).expect(0);
    }

    /// Takes a branch into main.
    fn merge(&self, branch: &str) {
        let script = format!("git checkout -q main && git merge -q --ff-only {branch} && git push -q origin main");
        self.shell("desk", &[], &script).expect(0);
    }

    /// A fresh clone with this branch checked out: the folder of a runner.
    fn clone(&self, name: &str, branch: &str) {
        let _ = fs::remove_dir_all(self.at(name));
        self.shell(".", &[], &format!("git clone -q -b {branch} forge.git {name}")).expect(0);
    }

    fn head(&self, revision: &str) -> String {
        self.shell("desk", &[], &format!("git rev-parse {revision}")).expect(0).said.trim().to_owned()
    }
}

const COMMON: &str = "deployment: {transport: local, sudo: false}\nhierarchy: [all.yaml, \"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n";

fn example(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci").join(name);
    serde_saphyr::from_str(&fs::read_to_string(path).expect("the example")).expect("YAML")
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One job of the GitHub example; returns whether it went well, and all that its steps said.
fn github(site: &Site, job: &str, branch: &str) -> (bool, String) {
    let file = example("github-actions.yml");
    let job = &file["jobs"][job];
    let output = site.at("output");
    fs::write(&output, "").expect("the outputs");
    let mut base: BTreeMap<String, String> = [
        ("GITHUB_BASE_REF", "main".to_owned()),
        ("GITHUB_SHA", site.head(branch)),
        ("GITHUB_OUTPUT", output.display().to_string()),
        ("GITHUB_STEP_SUMMARY", site.at("summary.md").display().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    add(&mut base, &job["env"]);
    let (mut well, mut said) = (true, String::new());
    for step in job["steps"].as_array().expect("steps") {
        let outputs = fs::read_to_string(&output).expect("the outputs");
        let wanted = match step["if"].as_str() {
            None => well,
            Some("always()") => true,
            Some("always() && steps.plan.outputs.status") => outputs.contains("status="),
            Some(other) => panic!("a condition that the test does not know: {other}"),
        };
        let uses = step["uses"].as_str().unwrap_or_default();
        if uses.starts_with("actions/checkout@") {
            site.clone("runner", branch);
        }
        if uses.starts_with("actions/upload-artifact@") && well {
            for path in text(&step["with"]["path"]).lines() {
                assert!(site.at("runner").join(path).exists(), "an artifact that is not there: {path}");
            }
        }
        let Some(script) = step["run"].as_str().filter(|_| wanted) else { continue };
        let mut variables = base.clone();
        add(&mut variables, &step["env"]);
        let ran = site.shell("runner", &variables.into_iter().collect::<Vec<_>>(), script);
        well &= ran.status == 0;
        said.push_str(&ran.said);
    }
    (well, said)
}

/// The variables of an `env`, with the expressions that the example uses.
fn add(variables: &mut BTreeMap<String, String>, env: &Value) {
    for (name, value) in env.as_object().into_iter().flatten() {
        let value = match text(value).as_str() {
            "${{ secrets.SUIL_AGE_KEY }}" => IDENTITY.to_owned(),
            "${{ secrets.SSH_KEY }}" | "${{ vars.KNOWN_HOSTS }}" | "${{ github.token }}" => "given".to_owned(),
            "${{ github.event.pull_request.number }}" => "7".to_owned(),
            other => panic!("an expression that the test does not know: {other}"),
        };
        variables.insert(name.clone(), value);
    }
}

/// One job of the GitLab example, in a fresh clone to which the artifacts of an earlier job were brought.
fn gitlab(site: &Site, job: &str, branch: &str, artifacts: &[&str]) -> Ran {
    let file = example("gitlab-ci.yml");
    let lines = |value: &Value| value.as_array().expect("a script").iter().map(text).collect::<Vec<_>>();
    let script = [lines(&file["default"]["before_script"]), lines(&file[job]["script"])].concat().join("\n");
    for path in artifacts {
        let (from, to) = (site.at("runner").join(path), site.at("kept").join(path));
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        fs::rename(from, to).unwrap_or_else(|e| panic!("the artifact {path}: {e}"));
    }
    site.clone("runner", branch);
    for path in artifacts {
        fs::rename(site.at("kept").join(path), site.at("runner").join(path)).expect("the artifact");
    }
    let variables = [
        ("SUIL_AGE_KEY", IDENTITY.to_owned()),
        ("SSH_KEY", "given".to_owned()),
        ("KNOWN_HOSTS", "given".to_owned()),
        ("COMMENT_TOKEN", "given".to_owned()),
        ("CI_API_V4_URL", "http://localhost".to_owned()),
        ("CI_PROJECT_ID", "1".to_owned()),
        ("CI_MERGE_REQUEST_IID", "7".to_owned()),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", site.head("main")),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    let ran = site.shell("runner", &variables, &format!("set -o pipefail\n{script}"));
    for path in file[job]["artifacts"]["paths"].as_array().expect("paths") {
        assert!(
            ran.status != 0 || site.at("runner").join(text(path)).exists(),
            "an artifact that is not there: {path}"
        );
    }
    ran
}

const BEGUN: [&str; 3] = ["none+key", "one+key", "one+key"];
const CHANGED: [&str; 3] = ["none+key", "two+key", "two+key"];

#[test]
fn the_github_example_plans_a_pull_request_and_applies_a_merge() {
    let site = Site::new();
    let (well, said) = github(&site, "apply", "main");
    assert!(well, "{said}");
    assert_eq!(site.nodes(), BEGUN);

    site.desk("data/roles/web.yaml", "modules: [demo]\ndemo: {text: two}\n");
    site.push("change");
    let (well, said) = github(&site, "plan", "change");
    assert!(well, "{said}");
    assert_eq!(site.nodes(), BEGUN, "a plan changes nothing");
    assert!(fs::read_to_string(site.at("output")).expect("outputs").contains("status=2\n"));
    let comment = site.comment();
    assert!(comment.starts_with("### suil dry run: 2 operations on 2 nodes\n"), "{comment}");
    assert!(comment.contains("      +two\n       ‹secret ") && !comment.contains("db-1"), "{comment}");
    assert!(!comment.contains(SECRET) && !said.contains(SECRET));

    site.merge("change");
    let (well, said) = github(&site, "apply", "main");
    assert!(well, "{said}");
    assert_eq!(site.nodes(), CHANGED);
    let (well, said) = github(&site, "apply", "main");
    assert!(well && said.contains("Nothing to apply."), "{said}");
    let summary = fs::read_to_string(site.at("summary.md")).expect("the summary");
    assert!(summary.contains("### suil apply: 2 done, 1 nothing to do\n"), "{summary}");
    assert!(summary.contains("### suil apply: nothing to do on 3 nodes\n"), "{summary}");
    assert!(!site.at("home/.ssh/id_ed25519").exists(), "the key is not left behind");
}

#[test]
fn the_github_example_passes_what_changes_no_node_and_fails_what_is_broken() {
    let site = Site::new();
    site.desk("notes.md", "a note\n");
    site.push("note");
    let (well, said) = github(&site, "plan", "note");
    assert!(well, "{said}");
    assert!(site.comment().starts_with("### suil: nothing to do\n"), "{}", site.comment());
    fs::remove_file(site.at("comment.md")).expect("the comment");
    site.desk("data/roles/web.yaml", "modules: [demo]\ndemo: {txt: two}\n");
    site.push("broken");
    let (well, said) = github(&site, "plan", "broken");
    assert!(!well && said.contains("did you mean `text`?"), "{said}");
    assert_eq!(site.nodes(), ["none", "none", "none"]);
}

#[test]
fn the_gitlab_example_plans_a_request_and_applies_the_plan_of_the_merge() {
    let site = Site::new();
    gitlab(&site, "plan-main", "main", &[]).expect(0);
    gitlab(&site, "apply", "main", &["plan.json", "facts"]).expect(0);
    assert_eq!(site.nodes(), BEGUN);

    site.desk("data/roles/web.yaml", "modules: [demo]\ndemo: {text: two}\n");
    site.push("change");
    gitlab(&site, "plan", "change", &[]).expect(0);
    assert_eq!(site.nodes(), BEGUN, "a plan changes nothing");
    assert!(site.comment().starts_with("### suil dry run: 2 operations on 2 nodes\n"), "{}", site.comment());

    site.merge("change");
    let planned = gitlab(&site, "plan-main", "main", &[]).expect(0);
    assert_eq!(site.nodes(), BEGUN);
    let applied = gitlab(&site, "apply", "main", &["plan.json", "facts"]).expect(0);
    assert_eq!(site.nodes(), CHANGED);
    assert!(!planned.said.contains(SECRET) && !applied.said.contains(SECRET));
    gitlab(&site, "plan-main", "main", &[]).expect(0);
    let again = gitlab(&site, "apply", "main", &["plan.json", "facts"]).expect(0);
    assert!(again.said.contains("Nothing to apply."), "{}", again.said);
}

#[test]
fn the_gitlab_example_refuses_a_plan_that_is_no_longer_true() {
    let site = Site::new();
    gitlab(&site, "plan-main", "main", &[]).expect(0);
    fs::write(site.at("node/web-1"), "by hand\n").expect("a file of the node");
    let refused = gitlab(&site, "apply", "main", &["plan.json", "facts"]).expect(3);
    assert!(refused.said.contains("web-1"), "{}", refused.said);
    assert_eq!(site.nodes(), ["none", "by hand\n", "none"]);
}
