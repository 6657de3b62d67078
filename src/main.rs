/// Threads that work on one answer take and give memory all the time, and the allocator of the C library asks the kernel for
/// it page by page there. Builds for debugging keep that one: tools that watch memory know it.
#[cfg(not(debug_assertions))]
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    suil::cli::main()
}
