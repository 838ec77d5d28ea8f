import ExecutionContexts
import ExecutionContextsWork

let works = Chapter(name: "work", title: "Equal work is done once, as urgently as any who want it") {
    let (starts, disk) = (Meter(), Promise<[UInt8]>())
    let graph = WorkGraph(on: GlobalContext().serial("pictures"))
    let decoding = PrioritizedQueue(on: .global, limit: 2, name: "decoding")
    let files = SingleFlight<String, [UInt8]>("file", in: graph) { _, flight in
        starts.enter()
        flight.follow(disk.async)
    }
    let pictures = SingleFlight<String, Int>("picture", in: graph) { name, flight in
        flight.process(files[name], on: decoding) { bytes, _ in bytes.count }
    }
    let asked = (0..<64).map { _ in pictures["wren"].value() }
    disk.succeed([1, 2, 3])
    let answered = try await Async.all(asked).get().count
    say("64 ask for one picture: loads, answers", "\(starts.total), \(answered)")

    decoding.suspend()
    let (thumbnail, hero) = (decoding.submit(priority: .low) { "thumbnail" }, decoding.submit { "hero" })
    let order = Log()
    for job in [thumbnail, hero] { job.async.onSuccess { order.add($0) } }
    thumbnail.priority = .highest
    decoding.limit = 1
    decoding.resume()
    _ = try await Async.all([thumbnail.async, hero.async]).get()
    say("what was moved to the front while it waited", order.entries.joined(separator: ", "))

    let (hasBegun, wasStopped) = (Promise<Void>(), Promise<Bool>())
    let page: SharedWork<String> = graph.work("page") { flight in
        // Kept by nobody else: a flight that is let go of would end with an error.
        flight.onCancel { wasStopped.succeed(flight.isCancelled) }
        hasBegun.succeed(())
    }
    let readers = (0..<2).map { _ in page.subscribe { _ in } }
    try await hasBegun.async.get()
    for reader in readers { reader.cancel() }
    say("a page that all its readers have left: was stopped", try await wasStopped.async.get() ? "yes" : "no")
    say("works still under way", graph.liveCount)
}
