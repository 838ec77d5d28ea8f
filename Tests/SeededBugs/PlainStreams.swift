import ExecutionContextsTesting

/// Streams that end at the wrong time, or lose elements.
extension SeededBug {
    static let plainStreams: [SeededBug] = [
        finishedTooEarly, neverFinished, newestOnly, subscribedTooLate, crossedStreams,
    ]

    private static func collect(_ stream: AsyncStream<Int>) async -> [Int] {
        var elements: [Int] = []
        for await element in stream { elements.append(element) }
        return elements.sorted()
    }

    /// The first of two producers to end finishes the stream for both.
    static let finishedTooEarly = plain("stream finished too early", depth: 1) { isMended in
        let (stream, source) = AsyncStream.makeStream(of: Int.self)
        let producers = Task {
            await withTaskGroup { group in
                for number in 1...2 {
                    group.addTask {
                        await request()
                        source.yield(number)
                        await request()
                        if !isMended { source.finish() }
                    }
                }
            }
            source.finish()
        }
        let elements = await collect(stream)
        await producers.value
        try require(elements == [1, 2], "an element is lost")
    }

    private actor Producers {
        private(set) var left = 2

        func set(_ new: Int) { left = new }

        func leave() -> Int {
            left -= 1
            return left
        }
    }

    /// The last of the producers finishes the stream, but two of them see that one is left.
    static let neverFinished = plain("stream that is never finished", .lostWakeUp, depth: 2) {
        isMended in
        let producers = Producers()
        let (stream, source) = AsyncStream.makeStream(of: Int.self)
        for number in 1...2 {
            Task(name: "producer \(number)") {
                if number > 1 { await later() }
                source.yield(number)
                let left: Int
                if isMended {
                    left = await producers.leave()
                } else {
                    left = await producers.left - 1
                    await producers.set(left)
                }
                if left == 0 { source.finish() }
            }
        }
        _ = await collect(stream)
    }

    /// The buffer keeps the newest element only, and the consumer is slower than the producer.
    static let newestOnly = plain("buffer of the newest element", depth: 2) { isMended in
        let (stream, source) = AsyncStream.makeStream(
            of: Int.self, bufferingPolicy: isMended ? .unbounded : .bufferingNewest(1))
        let producer = Task(name: "producer") {
            for number in 1...3 {
                await request()
                source.yield(number)
            }
            source.finish()
        }
        let elements = await collect(stream)
        await producer.value
        try require(elements == [1, 2, 3], "an event is dropped")
    }

    private actor Bus {
        private var subscribers: [AsyncStream<Int>.Continuation] = []

        func subscribe() -> AsyncStream<Int> {
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            subscribers.append(source)
            return stream
        }

        func publish(_ event: Int) { for subscriber in subscribers { subscriber.yield(event) } }
    }

    /// The subscriber's task is started before the event, and subscribes after it.
    static let subscribedTooLate = plain("subscribed too late", .lostWakeUp, depth: 3) {
        isMended in
        let bus = Bus()
        let stream = isMended ? await bus.subscribe() : nil
        let subscriber = Task(name: "subscriber") {
            let events = if let stream { stream } else { await bus.subscribe() }
            for await _ in events { return }
        }
        await later()
        await bus.publish(1)
        await subscriber.value
    }

    private actor Peer {
        private(set) var isReady = false
        private let (answers, source) = AsyncStream.makeStream(of: Int.self)

        func connect(to other: Peer, waits: Bool?) async {
            isReady = true
            let waits = if let waits { waits } else { await other.isReady }
            if waits { for await _ in await other.stream { break } }
            source.yield(1)
        }

        private var stream: AsyncStream<Int> { answers }
    }

    /// The peer that comes second waits for the first, and both find that they are second.
    static let crossedStreams = plain("two actors wait for each other", .lostWakeUp, depth: 3) {
        isMended in
        let (left, right) = (Peer(), Peer())
        async let one: Void = left.connect(to: right, waits: isMended ? false : nil)
        async let two: Void = later { await right.connect(to: left, waits: isMended ? true : nil) }
        _ = await (one, two)
    }
}
