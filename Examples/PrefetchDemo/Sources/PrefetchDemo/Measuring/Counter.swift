import CountDispatch
import ExecutionContexts
import ExecutionContextsObservation
import Synchronization

/// A serial context on a separate dispatch queue. Its submissions are counted twice: by an observer
/// of the context and, where the system allows it, at the functions of Dispatch.
final class CountedContext: Sendable {
    /// The context to inject into components.
    let context: any SerialContext
    private let counter = Counter()
    private let number: Int32

    /// A context that `recorder`, if any, also records, by the name alone.
    init(_ name: String, recorder: Recorder? = nil) {
        // A unique label, because Dispatch's count is by label.
        let label = "PrefetchDemo \(name) \(Self.made.add(1, ordering: .relaxed).newValue)"
        number = unsafe count_dispatch_begin(label)
        let counted = SerialQueueContext(name: label).observed(by: counter)
        context = recorder.map { counted.named(name).observed(by: $0) } ?? counted
    }

    // Relaxed: the numbers only need to differ.
    private static let made = Atomic(0)

    deinit { count_dispatch_end(number) }

    /// The number of submissions, by the observer's count.
    var submissions: Int { counter.submissions.load(ordering: .relaxed) }

    /// The number of submissions, by Dispatch's count; nil where there is none.
    var entries: Int? { number < 0 ? nil : Int(count_dispatch_value(number)) }

    /// The longest time that one job has occupied the context.
    var longestHold: Duration { .nanoseconds(counter.longest.load(ordering: .relaxed)) }

    /// Whether submissions can be counted at Dispatch on this system.
    static var hasEntries: Bool { count_dispatch_is_available() }
}

/// Counts the submissions that it observes.
private final class Counter: ContextObserver {
    // Relaxed: read after the jobs have ended, which other synchronization establishes.
    let submissions = Atomic(0)
    let longest = Atomic<Int64>(0)

    func enqueued(_ job: ObservedWork) { submissions.add(1, ordering: .relaxed) }

    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
        longest.max(ran.inNanoseconds, ordering: .relaxed)
    }
}

extension Duration {
    /// The duration in nanoseconds. It must fit into 64 bits.
    var inNanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
