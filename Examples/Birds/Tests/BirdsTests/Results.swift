import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

@testable import Birds

/// The outcomes that a data source has called back with.
final class Results: Sendable {
    typealias Outcome = Result<[Bird], any Error>

    private let calls = LockedResource<[(outcome: Outcome, isOnContext: Bool?)]>(
        [], lockedBy: .section)

    func add(_ outcome: Outcome, isOnContext: Bool? = nil) {
        calls.mutate { $0.append((outcome, isOnContext)) }
    }

    var all: [Outcome] { calls.read { $0.map(\.outcome) } }

    /// Whether each call came on the expected context, as far as that was recorded.
    var wereOnContext: [Bool?] { calls.read { $0.map(\.isOnContext) } }

    /// The outcome of the only call.
    var only: Outcome {
        get throws {
            #expect(all.count == 1)
            return try #require(all.first)
        }
    }
}

/// The two ways to request birds, which must give the same result.
enum Form: CaseIterable {
    case async, handler

    func getBirds(
        from dataSource: BirdDataSource, on context: some ExecutionContext,
        _ use: @escaping @Sendable (Results.Outcome) -> Void
    ) {
        switch self {
        case .async: dataSource.getBirds().onComplete(on: context, use)
        case .handler: dataSource.getBirds(completion: context.callback(use))
        }
    }
}

/// Contexts of every kind.
enum ContextKind: CaseIterable, CustomTestStringConvertible {
    case immediate, trampoline, global, serial, queue, blocking, thread

    var testDescription: String { context.name }

    var context: any ExecutionContext {
        switch self {
        case .immediate: ImmediateContext()
        case .trampoline: .trampoline
        case .global: GlobalContext()
        case .serial: GlobalContext().serial(named: "a serial view")
        case .queue: .serial(named: "a serial queue")
        case .blocking: .blocking
        case .thread: .thread(named: "a thread")
        }
    }
}

extension BirdSite {
    /// The expected birds.
    static func birds(_ names: [String]) -> [Bird] {
        names.map { Bird(name: $0, picture: picture(of: $0)) }
    }
}
