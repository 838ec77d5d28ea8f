internal import ExecutionContexts

/// One operation of a history.
struct RecordedCall<Model: SequentialModel> {
    /// Its position among the operations, by their beginnings.
    let number: Int
    let operation: Model.Operation
    let caller: String
    /// The numbers of the events at which it began and ended; `Int.max` for one that has not
    /// returned.
    let begin: Int
    var end = Int.max
    var answer: Model.Answer?

    /// A copy that has not returned: it may have taken effect or not, at any time since it began.
    var unanswered: Self {
        var call = self
        call.end = .max
        call.answer = nil
        return call
    }
}

/// The state of a history, guarded by its lock.
struct HistoryLog<Model: SequentialModel> {
    private(set) var calls: [RecordedCall<Model>] = []
    private var events = 0
    private var names: [HistoryCaller: String] = [:]
    private var counts: [String: Int] = [:]

    mutating func begin(_ operation: Model.Operation, by caller: HistoryCaller) -> Int {
        let number = calls.count
        calls.append(
            RecordedCall(
                number: number, operation: operation, caller: name(of: caller), begin: events))
        events += 1
        return number
    }

    /// Records an end; returns false if the operation has ended already.
    mutating func end(_ number: Int, _ answer: Model.Answer) -> Bool {
        guard calls[number].answer == nil else { return false }
        calls[number].end = events
        calls[number].answer = answer
        events += 1
        return true
    }

    /// Numbers threads and tasks without a name, in the order of their first operation.
    private mutating func name(of caller: HistoryCaller) -> String {
        let kind: String
        switch caller {
        case .named(let name): return name
        case .thread: kind = "thread"
        case .task: kind = "task"
        }
        if let name = names[caller] { return name }
        counts[kind, default: 0] += 1
        let name = "\(kind) \(counts[kind]!)"
        names[caller] = name
        return name
    }
}

/// The thread or task that performs an operation.
enum HistoryCaller: Hashable {
    case named(String)
    case thread(UInt32)
    /// The address of the task; it is compared, never dereferenced.
    case task(UInt)

    /// The caller. A simulated thread or task is identified by name, because addresses differ
    /// between runs.
    static var current: Self {
        if let thread = HostThread.current?.thread { return .named(thread.name) }
        return unsafe withUnsafeCurrentTask { task in
            guard let task = unsafe task else { return .thread(SimulationHooks.thread) }
            // A task reference is one word, an address.
            return unsafe .task(unsafeBitCast(task, to: UInt.self))
        }
    }
}
