import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// A context of one's own: a thread for each piece of work. This is all there is to it.
struct ThreadPerPiece: ExecutionContext {
    func execute(_ work: @escaping Work) { Thread { work() }.start() }
}

/// Breaks law 1: it loses every third piece of work.
final class Forgetful: ExecutionContext {
    let name = "forgetful"
    private let counter = Meter()

    func execute(_ work: @escaping Work) {
        counter.enter()
        if counter.total % 3 != 0 { GlobalContext().execute(work) }
    }
}

let ownExecutor = Chapter(
    name: "own", title: "A context of your own in three lines, checked against the laws"
) {
    let context = ThreadPerPiece()
    say("run, for free", try await context.run { 6 * 7 })
    say("a serial view of it, for free", try await context.serial("mine").run { "in order" })
    let breaches = await Laws.check(context)
    for breach in breaches { say("a breach", breach) }
    say(
        "laws \(Laws.all.sorted().map(String.init).joined(separator: ", ")), checked by the law kit",
        "\(breaches.count) breaches")
    let broken = await Laws.check(Forgetful(), laws: [1])
    say("and a context that forgets every third piece", broken.isEmpty ? "?" : "caught")
    say("  in its words", "\(broken.first.map(String.init(describing:)) ?? "")")
}
