/// A part of a task, from one suspension to the next, for the story.
struct TaskPart: Equatable {
    let isFirst: Bool
    /// The actor that it holds.
    let actor: String?
    /// Whether the task has not waited since its last part: it has changed its actor.
    let isMove: Bool
    /// Whether it is the first part since the task was cancelled.
    let isCancelled: Bool
    /// Addresses of its code.
    let locations: [UInt]

    var text: String {
        let verb =
            switch actor {
            case let actor? where isFirst: "begins in actor '\(actor)'"
            case let actor? where isMove: "enters actor '\(actor)'"
            case let actor?: "continues in actor '\(actor)'"
            case nil: isFirst ? "begins" : "continues"
            }
        return verb + (isCancelled ? " (cancelled)" : "")
    }
}
