import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Channels under searched schedules: drawn programs against a sequential model.
@Suite(.patient, .tasksAreSimulated)
struct ChannelScheduleTests {
    /// A queue that can be closed. An element counts from when its sender begins to wait, so that
    /// closing does not lose it; whether the channel itself keeps its room, `perform` checks.
    private struct Model: SequentialModel, Hashable {
        enum Kind: Sendable { case send, trySend, receive, tryReceive, close, cancel }
        struct Operation: Sendable {
            let kind: Kind
            let element: Int
        }
        enum Answer: Hashable, Sendable {
            case sent(Int), refusedFull, refusedClosed, element(Int), end, nothing, done
            /// The operation waits; no operation that has ended answers so.
            case waits
        }

        let capacity: Int
        var elements: [Int] = []
        var isClosed = false

        mutating func apply(_ operation: Operation) -> Answer {
            switch operation.kind {
            case .send, .trySend:
                if isClosed { return .refusedClosed }
                if operation.kind == .trySend, elements.count >= capacity { return .refusedFull }
                elements.append(operation.element)
                return .sent(operation.element)
            case .receive:
                return elements.isEmpty
                    ? (isClosed ? .end : .waits) : .element(elements.removeFirst())
            case .tryReceive:
                return elements.isEmpty ? .nothing : .element(elements.removeFirst())
            case .close:
                isClosed = true
                return .done
            case .cancel:
                isClosed = true
                elements = []
                return .done
            }
        }
    }

    private static func perform(
        _ call: Model.Operation, on channel: Channel<Int>, _ history: History<Model>
    ) async throws {
        try await history.recordAsync(call) {
            switch call.kind {
            case .send:
                do {
                    try await channel.send(call.element)
                    return .sent(call.element)
                } catch is Refusal { return .refusedClosed }
            case .trySend:
                do {
                    try channel.trySend(call.element)
                    return .sent(call.element)
                } catch let error as Refusal {
                    return error.reason == .shutDown ? .refusedClosed : .refusedFull
                }
            case .receive: return try await channel.receive().map { .element($0) } ?? .end
            case .tryReceive: return channel.tryReceive().map { .element($0) } ?? .nothing
            case .close:
                channel.close()
                return .done
            case .cancel:
                channel.cancel()
                return .done
            }
        }
    }

    @Test(arguments: seeds(debug: 8, release: 24))
    func `Law 36: drawn programs do what a queue does that runs one operation at a time`(
        _ seed: UInt64
    ) async {
        let report = await search("channel \(seed)", schedules: 60, seed: seed) { _ in
            var rng = SeededRNG(seed: seed)
            let capacity = Int.random(in: 1...2, using: &rng)
            let channel = Channel<Int>(capacity: capacity)
            let history = History(of: Model(capacity: capacity))
            let usual: [Model.Kind] = [.send, .send, .trySend, .receive, .receive, .tryReceive]
            let programs = (0..<3).map { task in
                (0..<Int.random(in: 1...3, using: &rng)).map { index in
                    let isRare = Int.random(in: 0..<12, using: &rng) == 0
                    let kind = isRare ? .close : usual.randomElement(using: &rng)!
                    return Model.Operation(kind: kind, element: task * 10 + index)
                }
            }
            let tasks = programs.map { program in
                Task {
                    for call in program {
                        try await Self.perform(call, on: channel, history)
                        if channel.count > capacity { throw Wrong("too many: \(channel)") }
                    }
                }
            }
            for _ in 0..<4 { await Task.yield() }
            try await Self.perform(.init(kind: .cancel, element: 0), on: channel, history)
            for task in tasks { try await task.value }
            try expectLinearizable(history)
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(arguments: seeds(debug: 8, release: 16))
    func `Law 36: a cancellation at any point loses and doubles no element`(_ seed: UInt64) async {
        let report = await search("cancelled \(seed)", schedules: 60, seed: seed) { _ in
            var rng = SeededRNG(seed: seed)
            let channel = Channel<Int>(capacity: Int.random(in: 0...1, using: &rng))
            let received = Box<[Int]>([])
            let senders = (0..<2).map { number in Task { try await channel.send(number) } }
            let receivers = (0..<2).map { _ in
                Task {
                    if let element = try await channel.receive() {
                        received.withValue { $0.append(element) }
                    }
                }
            }
            if Bool.random(using: &rng) { senders[0].cancel() }
            receivers[0].cancel()
            let rest = Task { () -> [Int] in
                var rest: [Int] = []
                for await element in channel { rest.append(element) }
                return rest
            }
            var sent: [Int] = []
            for (number, sender) in senders.enumerated() {
                do {
                    try await sender.value
                    sent.append(number)
                } catch is CancellationError {}
            }
            channel.close()
            for receiver in receivers {
                do { try await receiver.value } catch is CancellationError {}
            }
            let all = received.value + (await rest.value)
            if all.sorted() != sent { throw Wrong("sent \(sent), received \(all)") }
            if channel.count != 0 { throw Wrong("elements are left: \(channel)") }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
