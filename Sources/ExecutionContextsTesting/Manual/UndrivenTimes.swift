internal import ExecutionContexts
internal import Foundation

/// Reports, once for each manual time, that work has been ready for a while and no thread runs it.
///
/// A task that awaits such work hangs, and no thread is left that could notice. So a real timer of
/// the process checks all manual times, as long as there are any.
package final class UndrivenTimes: Sendable {
    private struct Watched {
        weak var time: ManualTime?
        /// The oldest ready job at the last check, if no thread ran jobs then.
        var oldest: UInt64?
    }

    private struct State {
        var watched: [Watched] = []
        var isLooking = false
    }

    static let all = UndrivenTimes()

    /// How often it checks; it reports at the second check.
    ///
    /// Unsafe in name only: a test changes it in a separate process, before it creates a manual
    /// time.
    package nonisolated(unsafe) static var interval: Duration = .seconds(5)

    private let state = Locked(State())

    /// Watches a time from now on, unless in a simulation, which finds hangs itself.
    func add(_ time: ManualTime) {
        guard SimulationHooks.current == nil else { return }
        let mustLook = state.withLock { state in
            state.watched.append(Watched(time: time))
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if mustLook { lookLater() }
    }

    private func lookLater() {
        GlobalContext().schedule(after: unsafe Self.interval) { self.look() }
    }

    private func look() {
        let (times, before) = state.withLock { state in
            state.watched.removeAll { $0.time == nil }
            return (state.watched.map(\.time), state.watched.map(\.oldest))
        }
        var after: [ObjectIdentifier: UInt64] = [:]
        var reported: Set<ObjectIdentifier> = []
        for case (let time?, let before) in zip(times, before) {
            guard let oldest = time.oldestUndriven else { continue }
            after[ObjectIdentifier(time)] = oldest
            if oldest == before {
                reported.insert(ObjectIdentifier(time))
                time.reportUndriven()
            }
        }
        let mustLook = state.withLock { state in
            state.watched.removeAll {
                $0.time.map { reported.contains(ObjectIdentifier($0)) } ?? true
            }
            for index in state.watched.indices {
                state.watched[index].oldest = state.watched[index].time.flatMap {
                    after[ObjectIdentifier($0)]
                }
            }
            state.isLooking = !state.watched.isEmpty
            return state.isLooking
        }
        // Kept until here, so that no last reference is released under the lock (law 9), and no
        // other time gets the address of one.
        withExtendedLifetime(times) { if mustLook { lookLater() } }
    }
}

extension ManualTime {
    /// The oldest ready job, without background work, if no thread runs jobs now.
    fileprivate var oldestUndriven: UInt64? { state.withLock { $0.oldestUndriven } }

    fileprivate func reportUndriven() {
        report(
            "has had work ready for a while, and no thread runs it (law 7). Drive the context: runReady(), advance(by:), "
                + "runUntilIdle(), or drive(_:) for async code. Code that awaits the work hangs until then"
        )
    }

    /// Reports pending work, except background work, on the standard error.
    func report(_ problem: String) {
        let pending = pending(of: nil).filter { !$0.isBackground }
        guard let first = pending.first else { return }
        let others = pending.count == 1 ? "" : ", and \(pending.count - 1) more"
        try? FileHandle.standardError.write(
            contentsOf: Data("'\(first.context)' \(problem): \(first)\(others).\n".utf8))
    }
}
