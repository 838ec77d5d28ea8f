import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Channels: order, room, closing, cancelling.
@Suite(.patient)
struct ChannelTests {
    @Test(arguments: [0, 1, 2, 7])
    func `Law 36: elements are received in the order in which they were sent`(_ capacity: Int)
        async throws
    {
        let channel = Channel<Int>(capacity: capacity)
        let sender = Task {
            for element in 0..<100 { try await channel.send(element) }
            channel.close()
        }
        var received: [Int] = []
        for await element in channel { received.append(element) }
        try await sender.value
        #expect(received == Array(0..<100))
        #expect(try await channel.receive() == nil)
    }

    @Test(.alsoSimulated, arguments: [0, 1, 3])
    func `Law 36: a sender waits while the channel is full`(_ capacity: Int) async throws {
        let channel = Channel<Int>(capacity: capacity)
        let sent = Box(0)
        let sender = startedTask {
            for element in 0..<6 {
                try await channel.send(element)
                sent.value = element + 1
            }
        }
        #expect(sent.value == capacity)
        #expect(channel.count == capacity)
        #expect("\(channel)" == "'channel', \(capacity) elements, 1 senders and 0 receivers wait")
        #expect(throws: Refusal(.full(capacity: capacity), by: "channel")) {
            try channel.trySend(9)
        }
        for element in 0..<6 { #expect(try await channel.receive() == element) }
        try await sender.value
        #expect(channel.tryReceive() == nil)
    }

    @Test(.alsoSimulated) func `Law 36: receivers are served in the order in which they came`()
        async throws
    {
        let channel = Channel<Int>()
        let receivers = (0..<10).map { _ in startedTask { try await channel.receive() } }
        for element in 0..<10 { try channel.trySend(element) }
        for (index, receiver) in receivers.enumerated() {
            #expect(try await receiver.value == index)
        }
        #expect(throws: Refusal.self) { try channel.trySend(10) }
    }

    @Test(.alsoSimulated)
    func `Law 36: closing delivers what was sent, that of waiting senders too`() async throws {
        let channel = Channel<Int>(capacity: 1)
        let senders = (0..<3).map { number in startedTask { try await channel.send(number) } }
        channel.close()
        channel.close()
        #expect(channel.isClosed)
        await #expect(throws: Refusal(.shutDown, by: "channel")) { try await channel.send(9) }
        #expect(throws: Refusal(.shutDown, by: "channel")) { try channel.trySend(9) }
        var received: [Int] = []
        for await element in channel { received.append(element) }
        #expect(received == [0, 1, 2])
        for sender in senders { try await sender.value }
    }

    @Test(.alsoSimulated) func `Law 36: closing ends receivers that wait`() async throws {
        let channel = Channel<Int>()
        let receivers = (0..<3).map { _ in startedTask { try await channel.receive() } }
        channel.close()
        for receiver in receivers { #expect(try await receiver.value == nil) }
    }

    @Test func `Law 36: cancelling frees what was not received, and ends senders`() async throws {
        let channel = Channel<Lab.DeinitAction>(capacity: 2)
        let freed = Box(0)
        let senders = (0..<5).map { _ in
            startedTask {
                try await channel.send(Lab.DeinitAction { freed.withValue { $0 += 1 } })
            }
        }
        #expect(freed.value == 0)
        channel.cancel()
        var refused = 0
        for sender in senders {
            do { try await sender.value } catch is Refusal { refused += 1 }
        }
        #expect(refused == 3)
        #expect(freed.value == 5)
        #expect(channel.tryReceive() == nil)
    }

    @Test(.alsoSimulated)
    func `Law 36: the element of a cancelled sender is freed at once, and not delivered`()
        async throws
    {
        let channel = Channel<Lab.DeinitAction>()
        let freed = Box(0)
        let sender = startedTask {
            try await channel.send(Lab.DeinitAction { freed.withValue { $0 += 1 } })
        }
        #expect(freed.value == 0)
        sender.cancel()
        await #expect(throws: CancellationError.self) { try await sender.value }
        #expect(freed.value == 1)
        #expect(channel.tryReceive() == nil)
    }

    @Test(.alsoSimulated) func `Law 36: a cancelled receiver takes no element`() async throws {
        let channel = Channel<Int>(capacity: 1)
        let receivers = (0..<3).map { _ in startedTask { try await channel.receive() } }
        receivers[1].cancel()
        await #expect(throws: CancellationError.self) { try await receivers[1].value }
        for element in 0..<2 { try await channel.send(element) }
        #expect(try await receivers[0].value == 0)
        #expect(try await receivers[2].value == 1)
    }

    @Test(.alsoSimulated)
    func `Iteration ends if its task is cancelled, and other receivers go on`() async throws {
        let channel = Channel<Int>()
        let loop = startedTask {
            var count = 0
            for await _ in channel { count += 1 }
            return count
        }
        try channel.trySend(1)
        loop.cancel()
        _ = try await loop.value
        let receiver = startedTask { try await channel.receive() }
        try channel.trySend(2)
        #expect(try await receiver.value == 2)
    }

    @Test func `A channel that keeps the latest replaces the oldest`() async throws {
        let channel = Channel<Int>(keepingLatest: 2)
        for element in 0..<5 { try channel.trySend(element) }
        try await channel.send(5)
        #expect(channel.count == 2)
        #expect([channel.tryReceive(), channel.tryReceive(), channel.tryReceive()] == [4, 5, nil])
    }

    @Test func `A channel of optional elements tells an element from the end`() async throws {
        let channel = Channel<Int?>(capacity: 2)
        try await channel.send(nil)
        channel.close()
        var count = 0
        for await element in channel {
            #expect(element == nil)
            count += 1
        }
        #expect(count == 1)
    }

    @Test func `Law 10: elements that are left are freed with the channel`() throws {
        let freed = Box(0)
        do {
            let channel = Channel<Lab.DeinitAction>(capacity: 3)
            for _ in 0..<3 {
                try channel.trySend(Lab.DeinitAction { freed.withValue { $0 += 1 } })
            }
        }
        #expect(freed.value == 3)
    }

    @Test func `Law 9: an element that uses its channel when it is freed is freed outside of it`()
        async throws
    {
        let channel = Channel<Lab.DeinitAction>(keepingLatest: 1)
        let counts = Box<[Int]>([])
        func element() -> Lab.DeinitAction {
            Lab.DeinitAction { [weak channel] in
                counts.withValue { $0.append(channel?.count ?? -1) }
            }
        }
        try channel.trySend(element())
        try channel.trySend(element())
        channel.cancel()
        #expect(counts.value == [1, 0])
    }

    @Test func `Threads send and tasks receive, with cancellations; no element is lost or doubled`()
        async throws
    {
        for capacity in [0, 1, 5] {
            let channel = Channel<Int>(capacity: capacity)
            let received = Box<[Int]>([])
            let sent = Box<Set<Int>>([])
            let receivers = (0..<4).map { _ in
                Task {
                    while true {
                        // Cancelled receivers try again, so that all elements arrive.
                        let once = Task { try await channel.receive() }
                        if Int.random(in: 0..<4) == 0 { once.cancel() }
                        switch await once.result {
                        case .success(let element?): received.withValue { $0.append(element) }
                        case .success(nil): return
                        case .failure: continue
                        }
                    }
                }
            }
            let senders = (0..<4).map { sender in
                Task {
                    for number in 0..<200 {
                        let element = sender * 1_000 + number
                        let once = Task { try await channel.send(element) }
                        if Int.random(in: 0..<4) == 0 { once.cancel() }
                        if (try? await once.value) != nil {
                            sent.withValue { _ = $0.insert(element) }
                        }
                    }
                }
            }
            for sender in senders { await sender.value }
            channel.close()
            for receiver in receivers { await receiver.value }
            #expect(received.value.count == sent.value.count)
            #expect(Set(received.value) == sent.value)
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: [-1])
    func `Law 36: a negative capacity traps`(_ capacity: Int) async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [capacity] in
            _ = Channel<Int>(capacity: capacity)
        }
        try expectTrap(result, "capacity of -1", "law 36")
    }
    #endif
}
