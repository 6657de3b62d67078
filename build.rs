//! A file added under `modules/` is seen by the next build: the compiler alone follows only the files it knows.

#![allow(clippy::print_stdout, reason = "cargo reads it")]

fn main() {
    println!("cargo::rerun-if-changed=modules");
}
