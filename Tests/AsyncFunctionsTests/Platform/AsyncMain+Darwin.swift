#if canImport(Darwin)
/// The thread that serves main after the first suspension of an async `main`.
///
/// Not measured: the runtime's source runs the main run loop.
let servesAsyncMain = "the main thread"
#endif
