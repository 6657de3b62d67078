//! A fault of suil itself. It has a process of its own, for the hook of panics belongs to the process.

use suil::cli::guard;
use suil::ui::Exit;

#[test]
fn a_panic_ends_as_a_failure_and_shows_no_value() {
    assert_eq!(guard(false, || Exit::Refused), Exit::Refused);
    assert_eq!(guard(false, || panic!("hunter22")), Exit::Failed);
}
