import ExecutionContexts

/// Fetches birds and their pictures.
///
/// Its creator chooses the context for decoding. Each caller chooses the context of its callback.
final class BirdDataSource: Sendable {
    private let transport: any Transport
    private let work: any ExecutionContext

    /// A data source that decodes on `work`.
    init(transport: any Transport, workingOn work: any ExecutionContext) {
        self.transport = transport
        // If the transport answers on this context, decoding runs inline (law 6).
        self.work = work.with(.inlineIfCurrent)
    }

    /// Fetches the birds in the order of the server's list, a few pictures at a time.
    ///
    /// Fails if there is no list. A bird whose picture cannot be fetched has none. Cancelling ends
    /// the requests in flight.
    func getBirds() -> Async<[Bird]> {
        transport.get("/birds.json")
            .map(on: work) { data in try BirdEntry.list(from: data) }
            .flatMap { entries in
                Async.traverse(entries, atMost: 4) { entry in self.bird(of: entry) }
            }
    }

    /// The same with a completion handler, which is called once, on an unspecified context.
    ///
    /// `context.callback` makes a handler that runs on `context`.
    func getBirds(completion: @escaping @Sendable (Result<[Bird], any Error>) -> Void) {
        getBirds().onComplete(completion)
    }

    private func bird(of entry: BirdEntry) -> Async<Bird> {
        transport.get(entry.image)
            .map(on: work) { data in Bird(name: entry.name, picture: try Picture(pgm: data)) }
            .recover { _ in Bird(name: entry.name) }
    }
}
