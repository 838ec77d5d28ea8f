#if canImport(Darwin)
/// Which thread serves main after the first suspension of an async `main`; by the runtime's source, which runs the main run
/// loop, and not measured.
let servesAsyncMain = "the main thread"
#endif
