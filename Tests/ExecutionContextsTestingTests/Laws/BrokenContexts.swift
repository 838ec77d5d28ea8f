import Dispatch
import ExecutionContexts
import Foundation
import Synchronization

// Each of these contexts breaks one law and keeps the others, to prove that the kit finds it.

/// Passes each job to a closure, which may break a law.
struct Broken: ExecutionContext {
    var name = "broken"
    var answer: @Sendable () -> Bool? = { nil }
    var clock: any TimeSource = SystemTime.shared
    let submit: @Sendable (_ work: @escaping Work) -> Void

    func execute(_ work: @escaping Work) { submit(work) }
    var isCurrent: Bool? { answer() }
    var time: any TimeSource { clock }
}

/// A `Broken` that claims to be serial. It recognizes its own jobs by a mark on their thread.
final class BrokenSerial: ActorBackingContext {
    /// Replaces the answer of the mark.
    let answer: (@Sendable () -> Bool?)?
    let clock: any TimeSource
    let submit: @Sendable (_ work: @escaping Work) -> Void
    private let key = UUID().uuidString

    init(
        answer: (@Sendable () -> Bool?)? = nil, clock: any TimeSource = SystemTime.shared,
        submit: @escaping @Sendable (_ work: @escaping Work) -> Void
    ) {
        (self.answer, self.clock, self.submit) = (answer, clock, submit)
    }

    func execute(_ work: @escaping Work) {
        submit { [key] in
            let dictionary = Thread.current.threadDictionary
            let before = dictionary[key]
            dictionary[key] = true
            defer { dictionary[key] = before }
            work()
        }
    }

    var isCurrent: Bool? {
        answer.map { $0() } ?? (Thread.current.threadDictionary[key] != nil ? true : nil)
    }
    var time: any TimeSource { clock }
    var name: String { "broken" }
}

/// A `Broken` that claims to keep barriers.
struct BrokenBarrier: BarrierContext {
    let submit: @Sendable (_ work: @escaping Work) -> Void
    let submitBarrier: @Sendable (_ work: @escaping Work) -> Void

    func execute(_ work: @escaping Work) { submit(work) }
    func executeBarrier(_ work: @escaping Work) { submitBarrier(work) }
    var name: String { "broken" }
}

/// Runs a job, and refuses it as well.
struct RunsAndRefuses: RefusingContext {
    let queue = DispatchQueue.global()

    func execute(_ work: @escaping Work) { queue.async(execute: work) }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        queue.async(execute: work)
        refused(Refusal(.full(capacity: 0), by: name))
    }

    func tryExecute(_ work: @escaping Work) throws(Refusal) { queue.async(execute: work) }
    var name: String { "broken" }
}

/// Runs a job, and then refuses it.
struct RefusesAfterwards: RefusingContext {
    func execute(_ work: @escaping Work) { DispatchQueue.global().async(execute: work) }

    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        work()
        throw Refusal(.full(capacity: 0), by: name)
    }
    var name: String { "broken" }
}

/// Runs the body of `sync` twice.
struct SyncsTwice: SynchronousContext {
    func execute(_ work: @escaping Work) { DispatchQueue.global().async(execute: work) }

    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        _ = try body()
        return try body()
    }
    var name: String { "broken" }
}

/// Counts from 0.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    // Relaxed: the numbers order nothing, they only differ.
    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}

/// Closures behind a serial queue.
final class Shelf: Sendable {
    private let queue = DispatchQueue(label: "shelf")
    // Unsafe in name only: reached on `queue` alone.
    private nonisolated(unsafe) var closures: [Work] = []

    func put(_ work: @escaping Work) { queue.sync { unsafe closures.append(work) } }

    /// Replaces the closures by one, and returns the replaced ones.
    func exchange(_ work: @escaping Work) -> [Work] {
        queue.sync {
            let before = unsafe closures
            unsafe closures = [work]
            return before
        }
    }

    /// Removes and returns the newest closure.
    func takeLast() -> Work? { queue.sync { unsafe closures.popLast() } }
}

/// A time source with one fault.
final class WrongTime: TimeSource {
    /// The kinds of faults.
    enum Fault { case early, forgetsNothing, newestFirst }

    private let fault: Fault
    private let queue = DispatchQueue(label: "wrong time")
    // Unsafe in name only: reached on `queue` alone.
    private nonisolated(unsafe) var pending: [DelayedWork] = []

    init(_ fault: Fault) { self.fault = fault }

    var now: ContextInstant { SystemTime.shared.now }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        if fault == .early { return queue.async { delay.fire() } }
        queue.sync { unsafe pending.append(delay) }
        let wait = now.duration(to: delay.deadline) / .nanoseconds(1)
        let nanoseconds = Int(min(max(wait, 0), 1e15)) + 1
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [self] in fireDue() }
    }

    func remove(_ delay: DelayedWork) {
        if fault != .forgetsNothing { queue.sync { unsafe pending.removeAll { $0 === delay } } }
    }

    private func fireDue() {
        var due: [DelayedWork] = []
        while let index = nextIndex() { due.append(unsafe pending.remove(at: index)) }
        for delay in due { delay.fire() }
    }

    private func nextIndex() -> Int? {
        let now = now
        func isDue(_ delay: DelayedWork) -> Bool { delay.deadline <= now }
        let due = unsafe pending.indices.filter { unsafe isDue(pending[$0]) }
        if fault == .newestFirst { return due.last }
        return due.min {
            unsafe (pending[$0].deadline, pending[$0].sequence) < (
                pending[$1].deadline, pending[$1].sequence
            )
        }
    }
}
