internal import ExecutionContexts

/// One operation of a history.
struct RecordedCall<Model: SequentialModel> {
    /// Its place among the operations, by their begin.
    let number: Int
    let operation: Model.Operation
    let caller: String
    /// When it began and ended, as numbers of events; one that has not returned ends never.
    let begin: Int
    var end = Int.max
    var answer: Model.Answer?

    /// The same, as if it had not returned: it may have taken effect or not, at any time since it began.
    var unanswered: Self {
        var call = self
        call.end = .max
        call.answer = nil
        return call
    }
}

/// What a history keeps under its lock.
struct HistoryLog<Model: SequentialModel> {
    private(set) var calls: [RecordedCall<Model>] = []
    private var events = 0
    private var names: [HistoryCaller: String] = [:]
    private var counts: [String: Int] = [:]

    mutating func begin(_ operation: Model.Operation, by caller: HistoryCaller) -> Int {
        let number = calls.count
        calls.append(
            RecordedCall(number: number, operation: operation, caller: name(of: caller), begin: events))
        events += 1
        return number
    }

    /// False if it has ended already.
    mutating func end(_ number: Int, _ answer: Model.Answer) -> Bool {
        guard calls[number].answer == nil else { return false }
        calls[number].end = events
        calls[number].answer = answer
        events += 1
        return true
    }

    /// Threads and tasks without a name get numbers, in the order in which they come.
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

/// Who carries out an operation.
enum HistoryCaller: Hashable {
    case named(String)
    case thread(UInt32)
    /// The address of the task, which is compared and never followed.
    case task(UInt)

    /// The caller: by its name in a simulation, where addresses would differ from run to run.
    static var current: Self {
        if let task = SimulatedTaskExecutor.name { return .named(task) }
        if let lane = LaneThread.current?.lane { return .named(lane.name) }
        return unsafe withUnsafeCurrentTask { task in
            guard let task = unsafe task else { return .thread(Seam.thread) }
            // A task reference is one word, an address.
            return unsafe .task(unsafeBitCast(task, to: UInt.self))
        }
    }
}
