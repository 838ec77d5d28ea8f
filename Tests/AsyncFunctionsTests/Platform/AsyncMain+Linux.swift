#if canImport(Glibc) || canImport(Musl)
/// The threads that serve main after the first suspension of an async `main`: the system's.
let servesAsyncMain = "another thread"
#endif
