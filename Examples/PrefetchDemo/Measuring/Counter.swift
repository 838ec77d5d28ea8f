import CountDispatch
import ExecutionContexts
import Synchronization

/// A serial context on a dispatch queue of its own, whose submissions are counted twice: by an observer of the context
/// and, where the system allows it, at the door of Dispatch.
final class CountedContext: Sendable {
    /// The context, for those who share it.
    let context: any SerialContext
    private let counter = Counter()
    private let number: Int32

    init(_ name: String) {
        // A label of its own: Dispatch's side is counted by it.
        let label = "PrefetchDemo \(name) \(Self.made.add(1, ordering: .relaxed).newValue)"
        number = unsafe count_dispatch_begin(label)
        context = SerialQueueContext(label: label).observed(by: counter)
    }

    // Relaxed: the numbers order nothing, they only differ.
    private static let made = Atomic(0)

    deinit { count_dispatch_end(number) }

    /// What has been submitted, by the observer's count.
    var submissions: Int { counter.submissions.load(ordering: .relaxed) }

    /// What has been submitted, by the count at Dispatch's door; nil where there is none.
    var entries: Int? { number < 0 ? nil : Int(count_dispatch_value(number)) }

    /// The longest that one piece has kept the context.
    var longestHold: Duration { .nanoseconds(counter.longest.load(ordering: .relaxed)) }

    /// Whether this system lets anybody count at Dispatch's door.
    static var hasEntries: Bool { count_dispatch_is_available() }
}

/// Counts what it is told of.
private final class Counter: ContextObserver {
    // Relaxed: read when the work is done, and known to be by other means.
    let submissions = Atomic(0)
    let longest = Atomic<Int64>(0)

    func enqueued(_ piece: ObservedWork) { submissions.add(1, ordering: .relaxed) }

    func finished(_ piece: ObservedWork, waited: Duration, ran: Duration) {
        longest.max(ran.inNanoseconds, ordering: .relaxed)
    }
}

extension Duration {
    /// In nanoseconds, for spans of a program's run.
    var inNanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
