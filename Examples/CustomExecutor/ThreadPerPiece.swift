import ExecutionContexts
import Foundation

/// The least that an executor has to say: a thread for each piece of work.
///
/// Right for a few long pieces, wrong for many short ones: see `WorkerPool`.
struct ThreadPerPiece: ExecutionContext {
    func execute(_ work: @escaping Work) { Thread(block: work).start() }
}
