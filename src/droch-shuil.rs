//! The second name of suil.

fn main() -> std::process::ExitCode {
    suil::cli::main()
}
