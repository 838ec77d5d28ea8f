import ExecutionContextsWork
// Re-exported, so that the files of this target need not import it.
@_exported import TestSupport

extension WorkEvent where Value == Int {
    /// The event in words.
    var text: String {
        switch self {
        case .progress(let progress): "\(progress.completed) of \(progress.total)"
        case .partial(let value): "nearly \(value)"
        case .finished(.success(let value)): "\(value)"
        case .finished(.failure(let error)): "\(error)"
        }
    }
}
