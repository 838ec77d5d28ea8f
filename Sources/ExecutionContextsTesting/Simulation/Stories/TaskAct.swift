internal import CSimulation

/// What a thread does to other tasks, for the story.
struct TaskAct: Equatable {
    let kind: ecs_act
    /// What came of a yield to a stream.
    var outcome = ecs_is_unknown
    var cancelled: CancelledTask?
    /// The tasks that are ready because of it.
    var resumed: [String] = []
    /// The task of whose cancellation it is a part, by its number: a handler does it.
    var cancellation: UInt32?
    /// Whether a cancellation, whose handlers have run, ends with it.
    var endsCancellation = false

    /// The task that is cancelled. It may have its name later, so its number stands for it.
    struct CancelledTask: Equatable {
        enum State: String {
            case new = ", which has not begun"
            case living = ""
            case ended = ", which has ended"
        }
        let number: UInt32
        let state: State
    }

    /// The text, with the names of tasks by their numbers.
    func text(_ tasks: [UInt32: String]) -> String {
        let cause = cancellation.flatMap { tasks[$0] }.map { ", as '\($0)' is cancelled" }
        return deed(tasks) + (cause ?? "")
    }

    private func deed(_ tasks: [UInt32: String]) -> String {
        switch kind {
        case ecs_resumes where resumed.isEmpty: "resumes a continuation"
        case _ where kind == ecs_resumes || endsCancellation: "resumes \(Self.list(resumed))"
        case ecs_cancels: cancelling(tasks)
        case ecs_cancels_group: "cancels the tasks of a group" + Self.resuming(resumed)
        case ecs_yields: yielding + Self.resuming(resumed)
        default: "finishes a stream" + Self.resuming(resumed)
        }
    }

    private var yielding: String {
        switch outcome {
        case ecs_drops_element: "yields an element to a stream that is full: one is dropped"
        case ecs_has_finished: "yields an element to a stream that has finished: it is lost"
        default: "yields an element to a stream"
        }
    }

    private func cancelling(_ tasks: [UInt32: String]) -> String {
        guard let cancelled else { return "cancels a task" }
        let name = tasks[cancelled.number]
        return "cancels " + (name.map { "'\($0)'" } ?? "a task") + cancelled.state.rawValue
            + (resumed == [name] ? ", and resumes it" : Self.resuming(resumed))
    }

    /// What follows the text of what makes these tasks ready.
    static func resuming(_ names: [String]) -> String {
        names.isEmpty ? "" : ", and resumes \(list(names))"
    }

    private static func list(_ names: [String]) -> String {
        names.map { "'\($0)'" }.joined(separator: ", ")
    }
}
