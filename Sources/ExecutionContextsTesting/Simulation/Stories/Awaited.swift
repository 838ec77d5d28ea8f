/// What a suspended task waits for, for the story.
enum Awaited: Equatable {
    case something, continuation, children
    /// The task with this number.
    case task(UInt32)

    /// What follows the verb, with the names of tasks by their numbers.
    func text(_ tasks: [UInt32: String]) -> String {
        switch self {
        case .something: ""
        case .continuation: " to be resumed"
        case .children: " for a task of its group"
        case .task(let number): tasks[number].map { " for '\($0)'" } ?? " for a task"
        }
    }
}
