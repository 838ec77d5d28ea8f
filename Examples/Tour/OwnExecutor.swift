import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// A context of your own: one thread per job. This is the whole implementation.
struct ThreadPerJob: ExecutionContext {
    func execute(_ work: @escaping Work) { Thread { work() }.start() }
}

/// Breaks law 1: it drops every third job.
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
    let context = ThreadPerJob()
    say("run, which every context has", try await context.run { 6 * 7 })
    say(
        "a serial view of it, which every context has",
        try await context.serial(named: "mine").run { "in order" })
    let breaches = await Laws.check(context)
    for breach in breaches { say("a breach", breach) }
    say(
        "laws \(Laws.all.sorted().map(String.init).joined(separator: ", ")), checked by the law kit",
        "\(breaches.count) breaches")
    let broken = await Laws.check(Forgetful(), laws: [1])
    say("a context that drops every third job", broken.isEmpty ? "?" : "caught")
    say("  the message", "\(broken.first.map(String.init(describing:)) ?? "")")
}
