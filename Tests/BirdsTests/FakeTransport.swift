import ExecutionContexts
import Foundation

@testable import Birds

/// Answers what a test has prepared, at once on the caller or when it is told to.
final class FakeTransport: Transport {
    typealias Answer = Result<Data, any Error>

    private struct State: Sendable {
        var answers: [String: Answer]
        var asked: [String] = []
        var cancelled: [String] = []
        /// By their number.
        var pending: [Int: (path: String, done: @Sendable (Answer) -> Void)] = [:]
    }

    private let isPatient: Bool
    private let state: LockedResource<State>

    /// A transport with answers by path; what is missing is answered by an error.
    init(_ answers: [String: Answer] = [:], isPatient: Bool = false) {
        state = LockedResource(State(answers: answers), lockedBy: .section)
        self.isPatient = isPatient
    }

    /// All paths that it was asked for.
    var asked: [String] { state.read { $0.asked } }

    /// The paths whose requests were ended by who had asked for them.
    var cancelled: [String] { state.read { $0.cancelled } }

    var pendingCount: Int { state.read { $0.pending.count } }

    func get(_ path: String) -> Async<Data> {
        Async.fromCallback { done, onCancel in
            let number = state.write { state in
                state.asked.append(path)
                state.pending[state.asked.count] = (path, done)
                return state.asked.count
            }
            onCancel { [weak self] in self?.forget(number) }
            if !isPatient { answer() }
        }
    }

    private func forget(_ number: Int) {
        // What comes out is freed here, outside the lock (law 9).
        _ = state.write { state in
            let request = state.pending.removeValue(forKey: number)
            state.cancelled += [request?.path].compactMap(\.self)
            return request?.done
        }
    }

    /// Answers what it was asked for so far, the last one first if so wanted.
    func answer(lastFirst: Bool = false) {
        let pending = state.write { state in
            defer { state.pending = [:] }
            return state.pending.sorted { $0.key < $1.key }.map(\.value)
        }
        for (path, done) in lastFirst ? pending.reversed() : pending {
            done(state.read { $0.answers[path] } ?? .failure(Missing(path: path)))
        }
    }

    /// Changes what it answers from now on.
    func prepare(_ answer: Answer, at path: String) { state.write { $0.answers[path] = answer } }

    struct Missing: Error, Equatable { let path: String }
}

extension FakeTransport {
    /// Answers as the bird server does.
    static func ofSite(_ names: [String] = BirdSite().names) -> [String: Answer] {
        let entries = names.map { BirdEntry(name: $0, image: "/images/\($0)") }
        var answers: [String: Answer] = ["/birds.json": Answer { try JSONEncoder().encode(entries) }]
        for entry in entries { answers[entry.image] = .success(BirdSite.picture(of: entry.name).pgm) }
        return answers
    }
}

/// Answers on a context that it shares with others, as a session does.
struct SharingTransport: Transport {
    let base: FakeTransport
    let context: any ExecutionContext

    func get(_ path: String) -> Async<Data> { base.get(path).map(on: context) { $0 } }
}
