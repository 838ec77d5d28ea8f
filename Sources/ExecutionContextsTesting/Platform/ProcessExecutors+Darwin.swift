#if canImport(Darwin) || compiler(<6.3)
/// The executors of the process stay the platform's: the hooks of the runtime must do, and before
/// Swift 6.3 there is nothing else.
enum ProcessExecutors {
    static func install() {}
}
#endif
