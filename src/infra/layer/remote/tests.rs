use super::*;
use crate::infra::layer::Name;
use crate::infra::terraform::Tool;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

fn layer(name: &str) -> Layer {
    let root = PathBuf::from("/tree");
    let stack = root.join("stacks").join(name);
    let path = stack.join("layers/harbor");
    Layer { output: path.join("stacks.out"), path, root, stack, name: Name::new("harbor") }
}

fn label(name: &str) -> String {
    format!("stacks/{name}/layers/harbor")
}

/// A state that nothing was read for.
fn state(name: &str) -> State {
    State::of(label(name), Tool::new("none"), ("main.tf", String::new()), PathBuf::new())
}

#[test]
fn threads_that_ask_for_one_layer_read_it_once() {
    let (states, count, both) = (States::default(), AtomicUsize::new(0), Barrier::new(4));
    let asked: Vec<Read> = std::thread::scope(|scope| {
        let ask = |number: usize| {
            let asking = layer(&format!("l{number}"));
            both.wait();
            states.get_with(&layer("kiln"), &Chain::new(&asking), |_| {
                count.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(20));
                Ok(state("kiln"))
            })
        };
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || ask(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(asked.iter().all(Read::is_ok), "{asked:?}");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_layer_that_reads_itself_is_a_cycle() {
    let own = layer("kiln");
    let read = States::default().get_with(&own, &Chain::new(&own), |_| Ok(state("kiln")));
    assert_eq!(read.expect_err("a cycle"), Failure::Cycle(vec![label("kiln"), label("kiln")]));
}

/// Three threads that each hold one layer and ask for the next: none of them may wait for ever, and all tell of the same
/// cycle.
#[test]
fn threads_that_would_wait_for_each_other_name_the_cycle() {
    let (states, all) = (States::default(), Barrier::new(3));
    let next = |name: &str| match name {
        "a" => "b",
        "b" => "c",
        _ => "a",
    };
    let ask = |name: &'static str| {
        // Rendered for itself, and reads the next; that is held while the one behind it is asked for.
        states.get_with(&layer(next(name)), &Chain::new(&layer(name)), |chain| {
            all.wait();
            let second = next(next(name));
            states.get_with(&layer(second), chain, |chain| {
                let third = next(second);
                states.get_with(&layer(third), chain, |_| Ok(state(third))).map(|_| state(second))
            })?;
            Ok(state(next(name)))
        })
    };
    let read: Vec<Read> = std::thread::scope(|scope| {
        let ask = &ask;
        let threads = ["a", "b", "c"].map(|name| scope.spawn(move || ask(name)));
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    let cycle = Failure::Cycle(["a", "b", "c", "a"].map(label).to_vec());
    for read in read {
        assert_eq!(read.expect_err("a cycle"), cycle);
    }
}

#[test]
fn those_who_wait_hear_of_a_read_that_died() {
    let states = States::default();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = states.get_with(&layer("kiln"), &Chain::new(&layer("ferry")), |_| panic!("a fault"));
    }));
    assert!(died.is_err());
    let read = states.get_with(&layer("kiln"), &Chain::new(&layer("quay")), |_| Ok(state("kiln")));
    assert!(matches!(read, Err(Failure::Said(what, _)) if what.contains("lost a layer")));
}
