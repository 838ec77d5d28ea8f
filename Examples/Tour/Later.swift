import ExecutionContexts
import ExecutionContextsTesting

let later = Chapter(
    name: "async", title: "Futures: values that come later, used where the caller chooses"
) {
    let network = GlobalContext().named("network")
    let main = MainContext()

    let birds = network.submit { ["wren", "robin", "wagtail"] }
    let seen = Promise<String>()
    birds.onComplete(on: .main) { birds in
        let place = main.isCurrent == true ? "on main" : "elsewhere"
        seen.succeed("\((try? birds.get().count) ?? 0) birds, \(place)")
    }
    say("fetched on the network's context, delivered", try await seen.async.get())

    let lengths = Async.traverse(try await birds.get(), atMost: 2, on: network) { bird in
        network.submit { bird.count }
    }
    say("a job for each of them, two at a time", try await lengths.get())

    let context = ManualContext()
    let attempts = Async<String>.retry(
        attempts: 4, backoff: .exponential(from: .seconds(1)), on: context
    ) {
        attempt in
        attempt < 3
            ? Async(error: Unreachable()) : Async(.success("answered at attempt \(attempt)"))
    }
    context.advance(by: .seconds(3))
    say("a failing server, retried after 1 and 2 virtual seconds", try await attempts.get())

    // Cancelling one branch leaves the other one alone. Cancelling the last branch cancels the
    // source (law 26).
    let request = Promise<Int>()
    let wasStopped = Log()
    request.onCancel { wasStopped.add("yes") }
    let thumbnail = request.async.map { $0 / 10 }
    let picture = request.async.map { $0 }
    thumbnail.cancel()
    say("one of two subscribers cancels: the request stops", wasStopped.entries.first ?? "no")
    picture.cancel()
    say("both subscribers cancel: the request stops", wasStopped.entries.first ?? "no")

    let end = Promise<Int>()
    var chain = end.async
    for _ in 0..<100_000 { chain = chain.map { $0 + 1 } }
    end.succeed(0)
    say("a chain of 100,000 futures, without recursion", try await chain.get())

    let dropped = Promise<Int>().async
    say(
        "a promise that was released before it was completed",
        dropped.outcome.map { "\($0)".contains("released") } == true ? "an error" : "?")
    say("the description of a future", "\(Promise<Int>().dependentDescription)")
}

private struct Unreachable: Error {}

extension Promise<Int> {
    /// The description of a future that depends on this promise.
    fileprivate var dependentDescription: String { "\(async.map(on: .global) { $0 + 1 })" }
}
