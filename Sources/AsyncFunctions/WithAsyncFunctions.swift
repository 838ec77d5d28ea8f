public import ExecutionContexts

/// Runs `body` with contexts of your choice behind `async`, `asyncBarrier` and `mainThread`.
///
/// For tests: a manual context runs the jobs of the code under test when the test drives it, in
/// virtual time.
///
/// ```swift
/// @MainActor func testTheGreeting() {
///     let context = ManualContext()
///     withAsyncFunctions(on: context, main: context) {
///         async(delay: 60) { mainThread { print("hello") } }
///         context.advance(by: .seconds(60))
///     }
/// }
/// ```
///
/// The contexts are in force for the calling task, for its child tasks and `Task { }`, and for all
/// work that is submitted meanwhile, on any thread and at any depth, also after the call has
/// returned. They are not in force for any other code (law 12). A context that you omit is
/// unchanged, so calls can be nested.
///
/// Closures of the main actor do not leave it: the program traps with a message where the
/// substitute for main runs one elsewhere. Work keeps its substitutes alive: let a manual context
/// run or cancel its jobs, or the work and the context leak.
///
/// - Parameters:
///   - background: the context for `async` and `asyncBarrier`; a serial context suffices.
///   - main: the context for the closures given to `mainThread`. It must run them on the main
///     actor, like a manual context driven there.
///   - body: the code to run. Its value or error is returned or thrown.
@discardableResult
public func withAsyncFunctions<Value, Failure: Error>(
    on background: (any BarrierContext)? = nil, main: (any SerialContext)? = nil,
    _ body: () throws(Failure) -> Value
) throws(Failure) -> Value {
    let substitutes = Substitutes(background: background, main: main)
    return try Substitutes.$inForce.withValue(substitutes) { Result(catching: body) }.get()
}

/// Runs an async `body` with contexts of your choice behind `async`, `asyncBarrier` and
/// `mainThread`.
///
/// The body keeps the caller's isolation. Otherwise this is like the synchronous variant.
@discardableResult
public nonisolated(nonsending) func withAsyncFunctions<Value, Failure: Error>(
    on background: (any BarrierContext)? = nil, main: (any SerialContext)? = nil,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let substitutes = Substitutes(background: background, main: main)
    // The task-local's own function erases the type of the error, hence the result.
    return try await Substitutes.$inForce.withValue(substitutes) {
        () async -> Result<Value, Failure> in
        do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }.get()
}
