import ExecutionContexts
import ExecutionContextsTesting

let later = Chapter(name: "async", title: "A value that comes later, and its caller says where it is used") {
    let network = GlobalContext().named("network")
    let main = MainContext()

    let birds = network.submit { ["wren", "robin", "wagtail"] }
    let seen = Promise<String>()
    birds.onComplete(on: .main) { birds in
        let isThere = main.isCurrent == true ? "on main" : "elsewhere"
        seen.succeed("\((try? birds.get().count) ?? 0) birds, \(isThere)")
    }
    say("fetched on the network's context, shown", try await seen.async.get())

    let lengths = Async.traverse(try await birds.get(), atMost: 2, on: network) { bird in
        network.submit { bird.count }
    }
    say("work for each of them, two at a time", try await lengths.get())

    let context = ManualContext()
    let attempts = Async<String>.retry(4, backoff: .exponential(from: .seconds(1)), on: context) { attempt in
        attempt < 3 ? Async(error: Unreachable()) : Async(.success("answered at attempt \(attempt)"))
    }
    context.advance(by: .seconds(3))
    say("a server that is down, retried after 1 s and 2 s of virtual time", try await attempts.get())

    // Cancelling one branch is nothing to the other; the last one takes the source with it (law 26).
    let request = Promise<Int>()
    let wasStopped = Log()
    request.onCancel { wasStopped.add("yes") }
    let thumbnail = request.async.map { $0 / 10 }
    let picture = request.async.map { $0 }
    thumbnail.cancel()
    say("a request that one of two has cancelled: was stopped", wasStopped.entries.first ?? "no")
    picture.cancel()
    say("and when both have", wasStopped.entries.first ?? "no")

    let end = Promise<Int>()
    var chain = end.async
    for _ in 0..<100_000 { chain = chain.map { $0 + 1 } }
    end.succeed(0)
    say("a chain of 100,000 links, on one stack", try await chain.get())

    let dropped = Promise<Int>().async
    say(
        "a promise that somebody forgot",
        dropped.outcome.map { "\($0)".contains("let go") } == true ? "says so" : "")
    say("who waits for whom", "\(Promise<Int>().waitedFor)")
}

private struct Unreachable: Error {}

extension Promise<Int> {
    /// The description of something that waits for this promise.
    fileprivate var waitedFor: String { "\(async.map(on: .global) { $0 + 1 })" }
}
