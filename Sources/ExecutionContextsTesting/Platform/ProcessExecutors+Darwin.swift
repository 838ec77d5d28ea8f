#if canImport(Darwin)
/// The executors of the process stay the platform's: the hooks of the runtime must do.
enum ProcessExecutors {
    static func install() {}
}
#endif
