import Foundation

/// A small program of ordinary code, with a fault and without it. It uses nothing of a simulation.
///
/// Its code tells its accesses: `Package.swift` compiles this module so.
struct Program: Sendable {
    enum Fault: Sendable { case race, wrong, deadlock }

    let name: String
    let fault: Fault
    private let make: @Sendable (_ isMended: Bool) -> Parts

    init(_ name: String, _ fault: Fault, _ make: @escaping @Sendable (_ isMended: Bool) -> Parts) {
        (self.name, self.fault, self.make) = (name, fault, make)
    }

    /// Builds the program.
    func callAsFunction(isMended: Bool) -> Parts { make(isMended) }

    /// What its threads do, and what must hold at the end.
    struct Parts: @unchecked Sendable {
        // Unchecked: that threads share what they must not share is the subject.
        let threads: [@Sendable () -> Void]
        let holds: () -> Bool

        init(_ threads: (() -> Void)..., holds: @escaping () -> Bool = { true }) {
            self.holds = holds
            self.threads = threads.map { thread in
                // As above.
                nonisolated(unsafe) let thread = thread
                return { thread() }
            }
        }
    }

    /// Whether the mended program has finitely many orders, all of which are tried.
    var isFinite: Bool {
        !["a write under a lock for readers", "a condition without its lock"].contains(name)
    }

    static let all = variables + guarded + mutexes + atomics + structures + buffers
}

/// A lock that only the mended program takes.
final class Guard: @unchecked Sendable {
    private let lock = NSLock()
    private let isOn: Bool

    init(_ isOn: Bool) { self.isOn = isOn }

    func callAsFunction<Result>(_ body: () -> Result) -> Result {
        guard isOn else { return body() }
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}

/// Reads a value. To discard an expression alone reads nothing, and the optimizer removes a read of
/// what nothing uses.
@inline(never) @_optimize(none)
func use(_ value: Int) {}
