//! The cases of `tests/cases/open` through the command itself: each is what somebody will try on suil. What needs
//! no command (options of the template engine, answers of nodes) is tested where it is decided; the table below says
//! where, so that no case is without a test.

#![allow(clippy::disallowed_methods)]

#[path = "open/data.rs"]
mod data;
#[path = "open/expect.rs"]
mod expect;
#[path = "open/graph.rs"]
mod graph;
#[path = "open/layer.rs"]
mod layer;
#[path = "local/room.rs"]
mod local;
#[path = "open/lookup.rs"]
mod lookup;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "the sealed room has more than is needed here")]
mod room;
#[path = "open/secret.rs"]
mod secret;
#[path = "open/template.rs"]
mod template;

use std::collections::BTreeMap;
use std::path::Path;

/// A file and the names of tests in it.
type Tests = (&'static str, &'static [&'static str]);

/// Where each case is tested.
const TESTED: &[(&str, &[Tests])] = &[
    (
        "D01-duplicate-keys",
        &[
            ("tests/open/data.rs", &["d01_both_files_are_named_and_nothing_is_written"]),
            ("tests/data.rs", &["d01_a_key_given_twice_is_an_error_with_both_lines"]),
        ],
    ),
    (
        "D03-file-modes",
        &[
            ("tests/open/data.rs", &["d03_a_mode_is_octal_on_disk_and_a_second_run_does_nothing"]),
            ("src/module/schema/tests.rs", &["a_mode_means_octal_however_it_is_written"]),
        ],
    ),
    (
        "D04-anchors-and-merge-keys",
        &[("tests/open/data.rs", &["d04_anchors_and_merge_keys_are_resolved_in_their_file"])],
    ),
    ("D05-list-rules-and-leftover-tags", &[("tests/open/data.rs", &["d05_lists_over_three_layers"])]),
    (
        "H01-tfvars-scalars-and-keys",
        &[
            ("tests/open/layer.rs", &["h01_a_value_is_the_same_to_terraform_before_and_after_a_render"]),
            ("tests/hcl.rs", &["every_snippet_on_record_is_read_as_terraform_reads_it"]),
        ],
    ),
    (
        "H03-universe-and-override",
        &[("tests/open/layer.rs", &["h03_what_is_set_is_declared_once_and_an_override_is_a_name_of_its_own"])],
    ),
    (
        "G01-deepest-stack-and-ignores",
        &[("tests/open/graph.rs", &["g01_a_path_belongs_to_the_deepest_stack_and_what_is_ignored_to_none"])],
    ),
    (
        "G03-waves-cycles-instances",
        &[(
            "tests/open/graph.rs",
            &["g03_waves_are_in_order_and_the_same_every_time", "g03_cycles_and_strangers_are_spelled"],
        )],
    ),
    (
        "L01-lookup-order-family-self",
        &[("tests/open/lookup.rs", &["l01_the_order_is_that_of_the_names_in_every_locale_and_every_run"])],
    ),
    (
        "L02-lookup-with-limited-targets",
        &[("tests/open/lookup.rs", &["l02_every_selection_gives_the_same_pool", "l02_a_broken_stranger_is_named"])],
    ),
    (
        "L04-typos",
        &[
            (
                "tests/open/lookup.rs",
                &["l04_each_mistake_is_named_in_every_command", "l04_a_selection_of_nothing_fails"],
            ),
            ("tests/cli/validate.rs", &["nine_typing_mistakes_are_told_in_one_go"]),
        ],
    ),
    (
        "L05-module-order-and-cycles",
        &[("tests/open/lookup.rs", &["l05_the_order_is_that_of_the_lists_and_a_cycle_is_one_closed_path"])],
    ),
    (
        "O01-os-release",
        &[(
            "src/node/probe.rs",
            &["os_release_files_give_family_and_release", "a_system_that_is_not_known_is_named_with_what_is"],
        )],
    ),
    (
        "O02-package-queries",
        &[
            (
                "src/resource/installed.rs",
                &[
                    "recorded_answers_of_dpkg_count_as_the_case_says",
                    "recorded_answers_of_rpm_keep_every_version_and_no_words",
                ],
            ),
            (
                "tests/collector/system.rs",
                &[
                    "the_lines_of_dpkg_are_given_to_the_name_that_they_are_of",
                    "the_words_of_rpm_are_no_package_in_any_language",
                ],
            ),
            ("tests/collector/offered.rs", &["a_hundred_of_dnf_means_updates_and_one_means_a_failure"]),
        ],
    ),
    (
        "O04-busybox-stat-and-id",
        &[
            ("tests/collector/paths.rs", &["a_refused_option_is_unknown_and_never_a_missing_file"]),
            ("src/resource/user.rs", &["names_of_a_directory_are_read_whole"]),
            ("src/resource/path.rs", &["a_raw_line_becomes_fields_and_a_name_that_is_none_is_left_out"]),
        ],
    ),
    (
        "O05-noise-around-an-answer",
        &[("src/node/survey.rs", &["noise_around_an_answer_is_never_part_of_it", "an_answer_that_is_spoilt_says_how"])],
    ),
    (
        "S01-secret-spellings",
        &[(
            "tests/open/secret.rs",
            &["s01_every_spelling_is_the_same_secret", "s01_a_cut_one_is_damaged", "s01_nothing_needs_a_key"],
        )],
    ),
    (
        "S03-secret-bytes",
        &[(
            "tests/open/secret.rs",
            &["s03_what_goes_in_comes_out_byte_for_byte", "s03_a_file_of_it_has_these_bytes_and_is_written_once"],
        )],
    ),
    ("T01-template-whitespace", &[("src/module/template/tests.rs", &["white_space_is_as_jinja2_gives_it"])]),
    (
        "T03-undefined-and-stable-output",
        &[(
            "tests/open/template.rs",
            &["t03_an_undefined_name_stops_before_anything_is_changed", "t03_mappings_keep_the_order_of_the_data"],
        )],
    ),
];

/// D, L, S, T and O are what suil's data and nodes must do, H what its layers and G what its graph must; the others belong to other parts.
#[test]
fn no_case_is_without_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tested: BTreeMap<String, _> = TESTED.iter().map(|(case, tests)| ((*case).to_owned(), *tests)).collect();
    assert_eq!(tested.len(), TESTED.len(), "a case stands in the table twice");
    for entry in std::fs::read_dir(root.join("tests/cases/open")).expect("cases") {
        let name = entry.expect("a case").file_name().to_string_lossy().into_owned();
        if !name.starts_with(['D', 'G', 'H', 'L', 'S', 'T', 'O']) {
            continue;
        }
        let tests = tested.remove(&name).unwrap_or_else(|| panic!("{name} has no test"));
        for (file, names) in tests {
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            for test in *names {
                let at = text.find(&format!("fn {test}()")).unwrap_or_else(|| panic!("{name}: {file} has no {test}"));
                let before = text[..at].trim_end();
                assert!(before.ends_with("#[test]"), "{name}: {test} of {file} is no test");
            }
        }
    }
    assert!(tested.is_empty(), "no such case: {:?}", tested.keys());
}
