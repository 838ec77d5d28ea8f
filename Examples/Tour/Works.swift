import ExecutionContexts
import ExecutionContextsWork

let works = Chapter(
    name: "work", title: "Equal work is done once, at the highest requested priority"
) {
    let (starts, disk) = (Meter(), Promise<[UInt8]>())
    let graph = WorkGraph(on: GlobalContext().serial(named: "pictures"))
    let decoding = PrioritizedQueue(on: .global, limit: 2, name: "decoding")
    let files = SingleFlight<String, [UInt8]>(name: "file", in: graph) { _, flight in
        starts.enter()
        flight.follow(disk.async)
    }
    let pictures = SingleFlight<String, Int>(name: "picture", in: graph) { name, flight in
        flight.process(files[name], on: decoding) { bytes, _ in bytes.count }
    }
    let requests = (0..<64).map { _ in pictures["wren"].value() }
    disk.succeed([1, 2, 3])
    let answered = try await Async.all(requests).get().count
    say("64 requests for one picture: loads, results", "\(starts.total), \(answered)")

    decoding.suspend()
    let (thumbnail, hero) = (
        decoding.submit(priority: .low) { "thumbnail" }, decoding.submit { "hero" }
    )
    let order = Log()
    for job in [thumbnail, hero] { job.async.onSuccess { order.add($0) } }
    thumbnail.priority = .highest
    decoding.limit = 1
    decoding.resume()
    _ = try await Async.all([thumbnail.async, hero.async]).get()
    say("the order, with a queued job moved to the front", order.entries.joined(separator: ", "))

    let (hasBegun, wasStopped) = (Promise<Void>(), Promise<Bool>())
    let page: SharedWork<String> = graph.work(named: "page") { flight in
        // This closure alone keeps the flight alive. A released flight ends with an error.
        flight.onCancel { wasStopped.succeed(flight.isCancelled) }
        hasBegun.succeed(())
    }
    let readers = (0..<2).map { _ in page.subscribe { _ in } }
    try await hasBegun.async.get()
    for reader in readers { reader.cancel() }
    say(
        "all readers of a page cancel: the work stops",
        try await wasStopped.async.get() ? "yes" : "no")
    say("work items that have not ended", graph.liveCount)
}
