import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// A context of one's own: a thread for each piece of work. This is all there is to it.
struct ThreadPerPiece: ExecutionContext {
    func execute(_ work: @escaping Work) { Thread { work() }.start() }
}

let ownExecutor = Chapter(
    name: "own", title: "A context of your own in three lines, checked against the laws"
) {
    let context = ThreadPerPiece()
    say("run, for free", try await context.run { 6 * 7 })
    say("a serial view of it, for free", try await context.serial("mine").run { "in order" })
}
