import ExecutionContexts
import ExecutionContextsWork
import TestSupport
import Testing

/// Channels of every kind of element under drawn senders, receivers, cancellations and ends.
@Suite(.patient)
struct ChannelAdversaryTests {
    /// An element that counts how many of its kind exist.
    private final class Counted: Sendable {
        let number: Int
        private let alive: Box<Int>

        init(_ number: Int, _ alive: Box<Int>) {
            (self.number, self.alive) = (number, alive)
            alive.withValue { $0 += 1 }
        }

        deinit { alive.withValue { $0 -= 1 } }
    }

    /// An element of many words, which are all the same.
    private struct Large: Sendable {
        let words: (Int, Int, Int, Int, Int, Int, Int, Int)
        let object: Counted

        init(_ number: Int, _ alive: Box<Int>) {
            words = (number, number, number, number, number, number, number, number)
            object = Counted(number, alive)
        }

        var number: Int {
            let sum = words.0 + words.1 + words.2 + words.3 + words.4 + words.5 + words.6 + words.7
            return sum == 8 * object.number ? object.number : -1
        }
    }

    private enum Ending: CaseIterable { case close, cancelSoon, cancelLate }

    /// Sends from several tasks and receives in several; returns what each receiver got, and what
    /// was sent.
    private static func play<Element: Sendable>(
        _ seed: UInt64, ending: Ending, make: @escaping @Sendable (Int) -> Element
    ) async -> (received: [[Element]], sent: [Int], isComplete: Bool) {
        var rng = SeededRNG(seed: seed)
        let capacity = Int.random(in: 0...3, using: &rng)
        let keepsLatest = Int.random(in: 0..<5, using: &rng) == 0
        let channel =
            keepsLatest
            ? Channel<Element>(keepingLatest: capacity + 1) : Channel<Element>(capacity: capacity)
        let sent = Box<[Int]>([])
        let receivers = (0..<Int.random(in: 1...3, using: &rng)).map { _ in
            receiver(channel, SeededRNG(seed: rng.next()))
        }
        let senders = (0..<Int.random(in: 1...3, using: &rng)).map { sender in
            var rng = SeededRNG(seed: rng.next())
            return Task {
                for number in (0..<40).map({ sender * 1_000 + $0 }) {
                    do {
                        switch Int.random(in: 0..<4, using: &rng) {
                        case 0: try channel.trySend(make(number))
                        case 1:
                            let once = Task { try await channel.send(make(number)) }
                            if Bool.random(using: &rng) { await Task.yield() }
                            once.cancel()
                            try await once.value
                        default: try await channel.send(make(number))
                        }
                        sent.withValue { $0.append(number) }
                    } catch {}
                }
            }
        }
        if ending == .cancelSoon {
            for _ in 0..<Int.random(in: 0..<30, using: &rng) { await Task.yield() }
            channel.cancel()
        }
        for sender in senders { await sender.value }
        if ending == .cancelLate { channel.cancel() } else { channel.close() }
        var received: [[Element]] = []
        for receiver in receivers { received.append(await receiver.value) }
        #expect(channel.count == 0)
        return (received, sent.value, ending == .close && !keepsLatest)
    }

    private static func receiver<Element: Sendable>(
        _ channel: Channel<Element>, _ rng: SeededRNG
    ) -> Task<[Element], Never> {
        var rng = rng
        return Task {
            var received: [Element] = []
            while true {
                switch Int.random(in: 0..<5, using: &rng) {
                case 0: if let element = channel.tryReceive() { received.append(element) }
                case 1:
                    let once = Task { try await channel.receive() }
                    if Bool.random(using: &rng) { await Task.yield() }
                    once.cancel()
                    guard let element = try? await once.value else { continue }
                    received.append(element)
                case 2:
                    var iterator = channel.makeAsyncIterator()
                    guard let element = await iterator.next() else { return received }
                    received.append(element)
                default:
                    do {
                        guard let element = try await channel.receive() else { return received }
                        received.append(element)
                    } catch {}
                }
            }
        }
    }

    private static func check(_ received: [[Int]], _ sent: [Int], isComplete: Bool) {
        for elements in received {
            // Each sender's elements are in order.
            for (_, ofSender) in Dictionary(grouping: elements, by: { $0 / 1_000 }) {
                #expect(ofSender == ofSender.sorted())
            }
        }
        let all = received.joined().sorted()
        #expect(Set(all).count == all.count, "an element was doubled")
        #expect(Set(all).isSubset(of: sent), "an element was received whose sender failed")
        if isComplete { #expect(all == sent.sorted(), "an element was lost") }
    }

    @Test(arguments: 0..<60)
    func `Laws 10, 36: objects arrive once and in order, and none is left`(_ seed: UInt64) async {
        let alive = Box(0)
        for ending in Ending.allCases {
            let (received, sent, isComplete) = await Self.play(seed, ending: ending) {
                Counted($0, alive)
            }
            Self.check(received.map { $0.map(\.number) }, sent, isComplete: isComplete)
        }
        // The tasks that have received an element end on other threads, and free it there.
        while alive.value > 0 { await Task.yield() }
    }

    @Test(arguments: 0..<20)
    func `Laws 10, 36: so do large values`(_ seed: UInt64) async {
        let alive = Box(0)
        for ending in Ending.allCases {
            let (received, sent, isComplete) = await Self.play(seed, ending: ending) {
                Large($0, alive)
            }
            Self.check(received.map { $0.map(\.number) }, sent, isComplete: isComplete)
        }
        // The tasks that have received an element end on other threads, and free it there.
        while alive.value > 0 { await Task.yield() }
    }

    @Test(arguments: 0..<20)
    func `Law 36: so do optional values, nil among them`(_ seed: UInt64) async {
        for ending in Ending.allCases {
            let (received, sent, isComplete) = await Self.play(seed, ending: ending) {
                number -> Int? in number % 3 == 0 ? nil : number
            }
            let numbers = received.map { $0.compactMap { $0 } }
            Self.check(
                numbers, sent.filter { $0 % 3 != 0 }, isComplete: isComplete)
            let nils = received.joined().count { $0 == nil }
            let sentNils = sent.count { $0 % 3 == 0 }
            #expect(isComplete ? nils == sentNils : nils <= sentNils)
        }
    }

    @Test(arguments: 0..<10)
    func `Law 36: values without content are counted`(_ seed: UInt64) async {
        let void = await Self.play(seed, ending: .close) { _ in () }
        let never = await Self.play(seed, ending: .close) { _ -> Never? in nil }
        if void.isComplete { #expect(void.received.joined().count == void.sent.count) }
        if never.isComplete { #expect(never.received.joined().count == never.sent.count) }
    }
}
