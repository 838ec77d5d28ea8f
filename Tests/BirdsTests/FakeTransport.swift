import ExecutionContexts
import Foundation

@testable import Birds

/// Answers what a test has prepared, at once on the caller or when it is told to.
final class FakeTransport: Transport {
    typealias Answer = Result<Data, any Error>

    private struct State: Sendable {
        var answers: [String: Answer]
        var asked: [String] = []
        var pending: [(path: String, completion: @Sendable (Answer) -> Void)] = []
    }

    private let isPatient: Bool
    private let state: LockedResource<State>

    /// A transport with answers by path; what is missing is answered by an error.
    init(_ answers: [String: Answer], isPatient: Bool = false) {
        state = LockedResource(State(answers: answers), lockedBy: .section)
        self.isPatient = isPatient
    }

    /// All paths that it was asked for.
    var asked: [String] { state.read { $0.asked } }

    func get(_ path: String, completion: @escaping @Sendable (Answer) -> Void) {
        state.write { state in
            state.asked.append(path)
            state.pending.append((path, completion))
        }
        if !isPatient { answer() }
    }

    /// Answers what it was asked for so far, the last one first if so wanted.
    func answer(lastFirst: Bool = false) {
        let pending = state.write { state in
            defer { state.pending = [] }
            return state.pending
        }
        for (path, completion) in lastFirst ? pending.reversed() : pending {
            completion(state.read { $0.answers[path] } ?? .failure(Missing(path: path)))
        }
    }

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
