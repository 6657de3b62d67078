use super::*;
use crate::base::FileId;

/// A file whose line `number` is `text`.
fn file(path: &str, number: usize, text: &str) -> FileId {
    FileId::new(path, format!("{}{text}\n", "\n".repeat(number - 1)))
}

fn at(path: &str, line: u32, column: u32, width: u32, text: &str) -> Place {
    Place { file: file(path, line as usize, text), line, column, width }
}

fn plain(problem: &Problem) -> String {
    render_in(usize::MAX, problem, &Mask::new(), Paint::OFF)
}

#[test]
fn an_unknown_tag_shows_the_choice() {
    let problem = Problem::new("unknown tag `!replcae`")
        .at(at("data/roles/web.yaml", 14, 13, 8, "  packages: !replcae"))
        .expected("expected one of `!replace`, `!append`, `!merge`, `!delete`, `!LOOKUP`, `!ENC[…]`")
        .help("did you mean `!replace`?");
    let want = "\
suil: unknown tag `!replcae`
  --> data/roles/web.yaml:14:13
   |
14 |   packages: !replcae
   |             ^^^^^^^^ expected one of `!replace`, `!append`, `!merge`, `!delete`, `!LOOKUP`, `!ENC[…]`
help: did you mean `!replace`?
";
    assert_eq!(plain(&problem), want);
}

#[test]
fn an_unknown_module_says_who_names_it() {
    let problem = Problem::new("unknown module `nignx`")
        .at(at("data/nodes/web-01.example.com.yaml", 5, 5, 5, "  - nignx"))
        .expected("expected a directory under modules/ or a stock module")
        .note("only this layer names it for node `web-01.example.com`")
        .help("did you mean `nginx`? `suil modules` lists all 14");
    let want = "\
suil: unknown module `nignx`
 --> data/nodes/web-01.example.com.yaml:5:5
  |
5 |   - nignx
  |     ^^^^^ expected a directory under modules/ or a stock module
note: only this layer names it for node `web-01.example.com`
help: did you mean `nginx`? `suil modules` lists all 14
";
    assert_eq!(plain(&problem), want);
}

#[test]
fn an_unreachable_node_points_at_its_address() {
    let problem = Problem::new("node `web-02.example.com` is unreachable: no answer from 192.0.2.12:22 in 10 s")
        .at(at("data/nodes/web-02.example.com.yaml", 3, 13, 10, "  ssh_host: 192.0.2.12"))
        .expected("expected an SSH server here")
        .note("nothing was changed on `web-02.example.com`; the other 11 nodes were applied")
        .help("try `ssh -p 22 deploy@192.0.2.12 true`, then `suil apply --node web-02.example.com`");
    let want = "\
suil: node `web-02.example.com` is unreachable: no answer from 192.0.2.12:22 in 10 s
 --> data/nodes/web-02.example.com.yaml:3:13
  |
3 |   ssh_host: 192.0.2.12
  |             ^^^^^^^^^^ expected an SSH server here
note: nothing was changed on `web-02.example.com`; the other 11 nodes were applied
help: try `ssh -p 22 deploy@192.0.2.12 true`, then `suil apply --node web-02.example.com`
";
    assert_eq!(plain(&problem), want);
}

#[test]
fn a_value_out_of_range_names_the_losing_layer_and_the_rule() {
    let common = at("data/common.yaml", 8, 10, 4, "    uid: 1400");
    let rule = at("modules/accounts/code/config.star", 12, 9, 0, "        uid = t.int(min = 1000, max = 59999),");
    let problem = Problem::new("module `accounts`: `uid` of `deploy` is out of range")
        .at(at("data/roles/db.yaml", 22, 10, 5, "    uid: 90000"))
        .expected("expected a whole number from 1000 to 59999, found 90000")
        .note_at("overrides 1400 from", common)
        .note_at("rule:", rule)
        .help("pick a free uid, or raise `max` in the rule");
    let want = "\
suil: module `accounts`: `uid` of `deploy` is out of range
  --> data/roles/db.yaml:22:10
   |
22 |     uid: 90000
   |          ^^^^^ expected a whole number from 1000 to 59999, found 90000
note: overrides 1400 from data/common.yaml:8:10
note: rule: modules/accounts/code/config.star:12:9
help: pick a free uid, or raise `max` in the rule
";
    assert_eq!(plain(&problem), want);
}

#[test]
fn drift_has_no_place_and_expected_becomes_a_note() {
    let problem = Problem::new("node `web-01.example.com` drifted: `/etc/motd` is not as applied")
        .expected("expected mode 0644, found 0600 when checked")
        .note("operation 7 of 12, `chmod 0644 /etc/motd`, ended well 2 s before the check")
        .help(
            "something else on `web-01.example.com` resets it; find it, then `suil apply --node web-01.example.com --dry-run`",
        );
    let want = "\
suil: node `web-01.example.com` drifted: `/etc/motd` is not as applied
note: expected mode 0644, found 0600 when checked
note: operation 7 of 12, `chmod 0644 /etc/motd`, ended well 2 s before the check
help: something else on `web-01.example.com` resets it; find it, then `suil apply --node web-01.example.com --dry-run`
";
    assert_eq!(plain(&problem), want);
}

#[test]
fn a_caret_stands_under_its_word_after_tabs_and_wide_characters() {
    let problem = Problem::new("x").at(at("a.yaml", 1, 6, 2, "\t日本: 語語")).expected("expected ascii");
    assert_eq!(
        plain(&problem),
        "suil: x\n --> a.yaml:1:6\n  |\n1 |     日本: 語語\n  |           ^^^^ expected ascii\n"
    );
}

#[test]
fn a_long_line_is_cut_around_the_caret() {
    let text = format!("{}BAD{}", "a".repeat(300), "z".repeat(300));
    let shown = plain(&Problem::new("x").at(at("a.yaml", 1, 301, 3, &text)));
    let want = format!("1 | …{}BAD{}…\n  | {}^^^\n", "a".repeat(47), "z".repeat(48), " ".repeat(48));
    assert!(shown.ends_with(&want), "{shown}");
}

#[test]
fn a_narrow_screen_gets_a_shorter_line() {
    let text = format!("key: {}", "a".repeat(300));
    let problem = Problem::new("x").at(at("a.yaml", 1, 6, 300, &text));
    let shown = render_in(60, &problem, &Mask::new(), Paint::OFF);
    assert!(shown.lines().all(|line| text::width(line) <= 60), "{shown}");
    assert!(shown.contains("1 | key: aaa"), "{shown}");
}

#[test]
fn a_line_that_is_not_there_leaves_the_place_alone() {
    let mut place = at("a.yaml", 1, 1, 1, "x");
    place.line = 900;
    let problem = Problem::new("x").at(place).expected("expected y");
    assert_eq!(plain(&problem), "suil: x\n   --> a.yaml:900:1\n    = expected y\n");
}

#[test]
fn a_place_past_the_end_of_its_line_gets_a_caret_there() {
    let problem = Problem::new("x").at(at("a.yaml", 2, 5, 0, "ab:")).expected("expected a value");
    assert_eq!(plain(&problem), "suil: x\n --> a.yaml:2:5\n  |\n2 | ab:\n  |     ^ expected a value\n");
}

#[test]
fn a_known_secret_hides_its_source_line_and_its_words() {
    let mask = Mask::new();
    mask.add("hunter22");
    let problem =
        Problem::new("`hunter22` is too short").at(at("a.yaml", 1, 6, 8, "key: hunter22")).note("got hunter22");
    let shown = render(&problem, &mask, Paint::OFF);
    assert!(!shown.contains("hunter22"), "{shown}");
    assert!(shown.contains("a.yaml:1:6"), "{shown}");
}

#[test]
fn words_of_a_node_keep_their_lines_and_cannot_steer_the_terminal() {
    let problem = Problem::new("apt failed").note("E: one\nE: \u{1b}[31mtwo\r\n");
    assert_eq!(plain(&problem), "suil: apt failed\nnote: E: one\n      E: ␛[31mtwo\n");
}

#[test]
fn only_the_first_line_and_the_carets_are_red() {
    let problem = Problem::new("x").at(at("a.yaml", 1, 1, 1, "y")).help("z");
    let shown = render(&problem, &Mask::new(), Paint::ON);
    assert_eq!(shown.matches("\u{1b}[31m").count(), 2, "{shown:?}");
}

#[test]
fn the_gravest_kind_gives_the_exit_code() {
    let kinds = |kinds: &[Kind]| exit(&kinds.iter().map(|k| Problem::new("x").kind(*k)).collect::<Vec<_>>());
    assert_eq!(kinds(&[Kind::Warning]), Exit::Done);
    assert_eq!(kinds(&[Kind::Refused, Kind::Warning]), Exit::Refused);
    assert_eq!(kinds(&[Kind::Refused, Kind::Failed]), Exit::Failed);
    assert_eq!(kinds(&[Kind::Failed, Kind::Interrupted]), Exit::Interrupted);
}
