import ExecutionContexts
import Foundation

/// Fetches birds and their pictures.
///
/// It works on one context and calls back on another. Both are given to it when it is made and never change, so who
/// makes it decides where things happen, and a test decides it for a test.
final class BirdDataSource: Sendable {
    private let transport: any Transport
    private let work: any ExecutionContext
    private let callbacks: any ExecutionContext

    /// A data source that decodes on `work` and calls back on `callbacks`.
    init(
        transport: any Transport, workingOn work: any ExecutionContext,
        callingBackOn callbacks: any ExecutionContext
    ) {
        self.transport = transport
        // A transport that shares the context answers there: then there is no need to go anywhere (law 6).
        self.work = work.inlineIfCurrent()
        self.callbacks = callbacks
    }

    /// Fetches the birds in the order of the server's list, and calls `completion` once.
    ///
    /// It fails if there is no list. A bird whose picture cannot be had comes without.
    func getBirds(completion: @escaping @Sendable (Result<[Bird], any Error>) -> Void) {
        get("/birds.json") { answer in
            do {
                self.addPictures(to: try BirdEntry.list(from: try answer.get())) { birds in
                    self.callbacks.execute { completion(.success(birds)) }
                }
            } catch {
                self.callbacks.execute { completion(.failure(error)) }
            }
        }
    }

    /// Fetches all pictures at a time.
    private func addPictures(
        to entries: [BirdEntry], completion: @escaping @Sendable ([Bird]) -> Void
    ) {
        if entries.isEmpty { return completion([]) }
        let gathering = Gathering(entries.map { Bird(name: $0.name) })
        for (index, entry) in entries.enumerated() {
            get(entry.image) { answer in
                let picture = try? Picture(pgm: answer.get())
                if let birds = gathering.add(picture, toBirdAt: index) { completion(birds) }
            }
        }
    }

    /// Gets what is at a path, and uses it on the working context.
    private func get(_ path: String, use: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        transport.get(path) { answer in self.work.execute { use(answer) } }
    }
}

/// Birds that wait for their pictures, which come in any order and perhaps on several threads.
private final class Gathering: Sendable {
    private struct State: Sendable {
        var birds: [Bird]
        var missing: Int
    }

    private let state: LockedResource<State>

    init(_ birds: [Bird]) {
        state = LockedResource(State(birds: birds, missing: birds.count), lockedBy: .section)
    }

    /// Notes the answer for one bird; returns all birds when it was the last.
    func add(_ picture: Picture?, toBirdAt index: Int) -> [Bird]? {
        state.write { state in
            state.birds[index].picture = picture
            state.missing -= 1
            return state.missing == 0 ? state.birds : nil
        }
    }
}
