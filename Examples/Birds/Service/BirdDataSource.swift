import ExecutionContexts

/// Fetches birds and their pictures.
///
/// Where it decodes is decided by who makes it, and where its callers are called back by each of them.
final class BirdDataSource: Sendable {
    private let transport: any Transport
    private let work: any ExecutionContext

    /// A data source that decodes on `work`.
    init(transport: any Transport, workingOn work: any ExecutionContext) {
        self.transport = transport
        // A transport that shares the context answers there: then there is no need to go anywhere (law 6).
        self.work = work.inlineIfCurrent()
    }

    /// Fetches the birds in the order of the server's list, a few pictures at a time.
    ///
    /// It fails if there is no list. A bird whose picture cannot be had comes without. Cancelling ends the requests that
    /// are under way.
    func getBirds() -> Async<[Bird]> {
        transport.get("/birds.json")
            .map(on: work) { data in try BirdEntry.list(from: data) }
            .flatMap { entries in Async.traverse(entries, atMost: 4) { entry in self.bird(of: entry) } }
    }

    /// The same for callers with a completion handler, which is called once, wherever the birds happen to come.
    ///
    /// `context.callback` makes a handler that runs where its caller wants it.
    func getBirds(completion: @escaping @Sendable (Result<[Bird], any Error>) -> Void) {
        getBirds().onComplete(completion)
    }

    private func bird(of entry: BirdEntry) -> Async<Bird> {
        transport.get(entry.image)
            .map(on: work) { data in Bird(name: entry.name, picture: try Picture(pgm: data)) }
            .recover { _ in Bird(name: entry.name) }
    }
}
