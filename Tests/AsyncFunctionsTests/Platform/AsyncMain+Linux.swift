#if canImport(Glibc) || canImport(Musl)
/// Which thread serves main after the first suspension of an async `main`; the system's threads take turns.
let servesAsyncMain = "another thread"
#endif
