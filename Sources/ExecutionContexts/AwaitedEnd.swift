internal import Synchronization

/// The end of a job that a thread waits for.
package final class AwaitedEnd: Sendable {
    private let beacon = Beacon()
    /// What has happened, as a sum of `Step`s.
    private let steps = Atomic<UInt8>(0)

    private enum Step {
        static var ran: UInt8 { 1 }
        static var over: UInt8 { 2 }
    }

    package init() {}

    /// Whether the job has run, or has been dropped. Acquiring: what it did is seen.
    package var isOver: Bool { steps.load(ordering: .acquiring) & Step.over != 0 }

    /// Whether the job has run, or has been dropped; it may not be freed yet. Acquiring, as above.
    var hasRun: Bool { steps.load(ordering: .acquiring) != 0 }

    /// The job has run, and is not freed yet. Releasing, for `come`.
    fileprivate func ran() { steps.bitwiseOr(Step.ran, ordering: .releasing) }

    /// Acquiring: the last reference to a job may go on another thread than the one that ran it.
    /// Releasing, and no mere store: a retain may sink below that.
    func come() {
        steps.bitwiseOr(Step.over, ordering: .acquiringAndReleasing)
        beacon.signal()
    }

    /// Has a thread that waits here look again.
    package func rouse() { beacon.signal() }

    /// Waits for the end, or until the thread is to look again.
    package func doze() { beacon.wait() }

    /// Waits for the end, which needs a job of `context`; traps where that can never run while the
    /// caller waits.
    func wait(
        for context: some ExecutionContext, named name: String,
        then return: LentThread.Return = .whenThereIsRoom
    ) {
        // An inline base has run it already.
        if isOver { return }
        // A simulation says itself, and how it came about, that no thread can go on.
        if Seam.current != nil { return wait(then: `return`) }
        let outlook = Outlook.of(context)
        outlook.stopIfObstructed(name)
        if let driver = outlook.driver { return driver.drive(until: self) }
        for limiter in outlook.limiters where limiter.jobWaits(for: self) && !hasRun {
            Outlook.stopEndless(
                name, "the last job that '\(limiter.name)' can run at a time, on which it runs")
        }
        defer { for limiter in outlook.limiters { limiter.jobGoesOn(after: self) } }
        if let probe = outlook.probe, !beacon.wait(until: MonotonicClock.nanoseconds + Self.patience), !isOver
        {
            probe(name)
        }
        wait(then: `return`)
    }

    /// Waits for the end.
    func wait(then return: LentThread.Return) { while !isOver { beacon.wait(then: `return`) } }

    /// How long it waits before it looks again, in nanoseconds.
    private static var patience: Int64 { 1_000_000_000 }
}

extension AwaitedEnd {
    /// Waits for `body`, which `submit` has a context run as a part of what the caller is doing;
    /// nil if it was dropped.
    ///
    /// `base` is the context whose jobs the wait needs: see ``wait(for:named:)``.
    package static func result<Value, Failure: Error>(
        of body: () throws(Failure) -> Value, from base: some ExecutionContext, named name: String,
        _ submit: (_ work: @escaping Work) -> Void
    ) -> Result<Value, Failure>? {
        // Unsafe in name only: body and result cross to the other thread and back, one at a time,
        // and the beacon orders the two.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            let turn = AwaitedTurn()
            let caller = Caller.current
            submit { [ending = turn.ending] in
                caller.run { unsafe work() }
                ending.ran()
            }
            turn.wait(for: base, named: name)
        }
        return unsafe result
    }
}

/// Waits until a job has ended or has been dropped: until `ending` dies.
private struct AwaitedTurn: ~Copyable {
    private let end = AwaitedEnd()
    private(set) var ending: Ending

    final class Ending: Sendable {
        private let end: AwaitedEnd
        init(_ end: AwaitedEnd) { self.end = end }
        deinit { end.come() }
        func ran() { end.ran() }
    }

    init() { ending = Ending(end) }

    consuming func wait(for context: some ExecutionContext, named name: String) {
        let end = end
        _ = consume self
        end.wait(for: context, named: name)
    }
}
