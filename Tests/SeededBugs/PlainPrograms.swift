import ExecutionContextsTesting

/// Programs of Swift's own concurrency: tasks, actors, streams and sleeps, without a context.
extension SeededBug {
    /// The bugs of plain Swift concurrency.
    package static let plain: [SeededBug] =
        plainActors + plainState + plainTasks + plainCancelling + plainContinuations + plainStreams
        + plainMainActor + plainTime + published

    /// A program whose body is a task; the body throws if it sees the fault.
    static func plain(
        _ name: String, _ kind: SimulationFailure.Kind = .threw, depth: Int,
        time: SimulationTime = .whenIdle,
        _ program: @escaping PlainProgram
    ) -> SeededBug {
        SeededBug(name, kind, depth: depth, time: time, plainProgram: program) { sim, isMended in
            sim.task("the program") { try await program(isMended) }
        }
    }
}

/// The error of a program that sees its fault.
struct Wrong: Error, CustomStringConvertible {
    let description: String
}

/// Throws if a condition does not hold.
func require(_ holds: Bool, _ description: String) throws(Wrong) {
    if !holds { throw Wrong(description: description) }
}

/// Simulates a request to a server. Other tasks may run before it returns.
func request() async { await Task.yield() }

/// Suspends for a while, in which other tasks usually end.
func later() async { for _ in 1...3 { await request() } }

/// Calls `body` after a while.
func later<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
    await later()
    return try await body()
}

/// Simulates a file or a screen: it keeps all entries.
actor Log {
    private(set) var entries: [String] = []

    func add(_ entry: String) { entries.append(entry) }

    /// Adds nothing if the calling task is cancelled.
    func addUnlessCancelled(_ entry: String) { if !Task.isCancelled { add(entry) } }

    func clear() { entries = [] }
}
