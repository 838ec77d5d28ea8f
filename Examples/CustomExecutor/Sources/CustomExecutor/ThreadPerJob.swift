import ExecutionContexts
import Foundation

/// The smallest executor: one thread per job.
///
/// It suits a few long jobs. For many short ones see `WorkerPool`.
struct ThreadPerJob: ExecutionContext {
    func execute(_ work: @escaping Work) { Thread(block: work).start() }
}
