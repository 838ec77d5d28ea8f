internal import ExecutionContexts

/// One event of a trace, before it is sorted.
struct TraceEvent {
    /// The phase, in the format's terms.
    enum Phase: Int {
        // In the order of events with equal instants: a flow starts inside an event that has begun.
        case complete, begin, flowStart, flowEnd, end, counter

        var letter: String {
            switch self {
            case .complete: "X"
            case .begin: "b"
            case .flowStart: "s"
            case .flowEnd: "f"
            case .end: "e"
            case .counter: "C"
            }
        }
    }

    private let phase: Phase
    /// Nanoseconds since the first instant of the time source.
    private let instant: Int64
    private let length: Int64
    private let fields: String

    init(_ phase: Phase, _ instant: Int64, lasting length: Int64 = 0, _ fields: String) {
        self.phase = phase
        self.instant = instant
        self.length = length
        self.fields = fields
    }

    var text: String {
        "{\"ph\":\"\(phase.letter)\",\"ts\":\(JSONText.microseconds(instant)),\(fields)}"
    }

    /// Sorts by instant. Of complete events that begin together, the longer is the outer one.
    static func sorted(_ events: [TraceEvent]) -> [TraceEvent] {
        events.indices.sorted {
            let (left, right) = (events[$0], events[$1])
            return (left.instant, left.phase.rawValue, -left.length, $0)
                < (right.instant, right.phase.rawValue, -right.length, $1)
        }.map { events[$0] }
    }
}
