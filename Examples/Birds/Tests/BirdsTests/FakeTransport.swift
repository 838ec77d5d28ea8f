import ExecutionContexts
import Foundation

@testable import Birds

/// Gives prepared answers, at once on the caller or when the test calls `answer`.
final class FakeTransport: Transport {
    typealias Answer = Result<Data, any Error>

    private struct State: Sendable {
        var answers: [String: Answer]
        var asked: [String] = []
        var cancelled: [String] = []
        /// The pending requests, by number.
        var pending: [Int: (path: String, done: @Sendable (Answer) -> Void)] = [:]
    }

    private let isManual: Bool
    private let state: LockedResource<State>

    /// A transport with answers by path; a path without an answer is an error.
    init(_ answers: [String: Answer] = [:], isManual: Bool = false) {
        state = LockedResource(State(answers: answers), lockedBy: .section)
        self.isManual = isManual
    }

    /// The paths of all requests.
    var asked: [String] { state.read { $0.asked } }

    /// The paths of the cancelled requests.
    var cancelled: [String] { state.read { $0.cancelled } }

    var pendingCount: Int { state.read { $0.pending.count } }

    func get(_ path: String) -> Async<Data> {
        Async.fromCallback { done, onCancel in
            let number = state.mutate { state in
                state.asked.append(path)
                state.pending[state.asked.count] = (path, done)
                return state.asked.count
            }
            onCancel { [weak self] in self?.forget(number) }
            if !isManual { answer() }
        }
    }

    private func forget(_ number: Int) {
        // The removed closure is freed here, outside the lock (law 9).
        _ = state.mutate { state in
            let request = state.pending.removeValue(forKey: number)
            state.cancelled += [request?.path].compactMap(\.self)
            return request?.done
        }
    }

    /// Answers all pending requests, the last one first if `lastFirst` is true.
    func answer(lastFirst: Bool = false) {
        let pending = state.mutate { state in
            defer { state.pending = [:] }
            return state.pending.sorted { $0.key < $1.key }.map(\.value)
        }
        for (path, done) in lastFirst ? pending.reversed() : pending {
            done(state.read { $0.answers[path] } ?? .failure(Missing(path: path)))
        }
    }

    /// Changes the answer for `path` from now on.
    func prepare(_ answer: Answer, at path: String) { state.mutate { $0.answers[path] = answer } }

    struct Missing: Error, Equatable { let path: String }
}

extension FakeTransport {
    /// The answers of the bird server.
    static func ofSite(_ names: [String] = BirdSite().names) -> [String: Answer] {
        let entries = names.map { BirdEntry(name: $0, image: "/images/\($0)") }
        var answers: [String: Answer] = [
            "/birds.json": Answer { try JSONEncoder().encode(entries) }
        ]
        for entry in entries {
            answers[entry.image] = .success(BirdSite.picture(of: entry.name).pgm)
        }
        return answers
    }
}

/// Answers on a context that other code also uses, as a session does.
struct SharingTransport: Transport {
    let base: FakeTransport
    let context: any ExecutionContext

    func get(_ path: String) -> Async<Data> { base.get(path).map(on: context) { $0 } }
}
