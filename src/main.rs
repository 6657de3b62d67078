fn main() -> std::process::ExitCode {
    suil::cli::main()
}
