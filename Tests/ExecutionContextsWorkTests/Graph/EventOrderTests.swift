import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Synchronization
import TestSupport
import Testing

/// Law 31: which events a subscriber receives on a context of its own, in which order, and how many
/// are queued for it at most.
@Suite(.patient)
struct EventOrderTests {
    private let context = ManualContext()

    /// Returns a work item that begins with its first subscriber, and its flight.
    private func begun(on context: some SerialContext) -> (SharedWork<Int>, Box<Flight<Int>?>) {
        let flight = Box<Flight<Int>?>(nil)
        return (WorkGraph(on: context).work(named: "work") { flight.value = $0 }, flight)
    }

    /// Logs the events of a subscriber, and counts calls of its handler that overlapped.
    private final class Listener: Sendable {
        let received = Box<[String]>([])
        let overlaps = Atomic(0)
        private let inside = Atomic(0)

        func receive(_ event: WorkEvent<Int>) {
            if inside.wrappingAdd(1, ordering: .relaxed).oldValue > 0 {
                overlaps.add(1, ordering: .relaxed)
            }
            let text =
                switch event {
                case .progress(let progress): "\(progress.completed)"
                case .partial(let value): "nearly \(value)"
                case .finished: "end"
                }
            received.withValue { $0.append(text) }
            inside.subtract(1, ordering: .relaxed)
        }
    }

    @Test func `An event knows its value and its outcome`() {
        struct Oops: Error {}
        let events: [WorkEvent<Int>] = [
            .progress(WorkProgress(completed: 1)), .partial(2), .finished(.success(3)),
            .finished(.failure(Oops())),
        ]
        #expect(events.map(\.value) == [nil, 2, 3, nil])
        #expect(events.map { $0.outcome != nil } == [false, false, true, true])
    }

    @Test
    func `Law 31: a concurrent context delivers events one at a time, in order, the end last`()
        async
    {
        await offThePool {
            for _ in 0..<rounds(debug: 10, release: 100) {
                let (work, flight) = begun(on: GlobalContext().serial(named: "graph"))
                let listeners = (0..<4).map { _ in Listener() }
                let ends = listeners.map { listener in
                    let end = Promise<Void>()
                    work.subscribe(on: .global) { event in
                        listener.receive(event)
                        if event.outcome != nil { end.succeed(()) }
                    }
                    return end.async
                }
                try! work.graph.context.submit {}.wait()
                for number in 1...1_000 {
                    flight.value!.report(WorkProgress(completed: Int64(number)))
                }
                flight.value!.succeed(1)
                for end in ends { try! end.wait() }
                for listener in listeners {
                    let received = listener.received.value
                    #expect(received.last == "end")
                    #expect(received.count { $0 == "end" } == 1)
                    let numbers = received.dropLast().compactMap { Int($0) }
                    #expect(numbers == numbers.sorted())
                    #expect(numbers.last == 1_000)
                    #expect(listener.overlaps.load(ordering: .relaxed) == 0)
                }
            }
        }
    }

    @Test func `Law 31: a slow subscriber has one progress, one partial value and the end queued`()
    {
        let (work, flight) = begun(on: context)
        let (slow, listener) = (ManualContext(), Listener())
        work.subscribe(on: slow) { listener.receive($0) }
        context.runReady()
        for number in 1...1_000 {
            flight.value!.yield(number)
            context.runReady()
            flight.value!.report(WorkProgress(completed: Int64(number)))
            context.runReady()
            #expect(slow.readyCount == 1)
        }
        flight.value!.succeed(1)
        context.runReady()
        #expect(slow.readyCount == 1)
        slow.runReady()
        #expect(listener.received.value == ["nearly 1000", "1000", "end"])
    }

    @Test func `Law 31: reports that outpace the graph's context take one submission`() {
        let (work, flight) = begun(on: context)
        let listener = Listener()
        work.subscribe { listener.receive($0) }
        context.runReady()
        for number in 1...300_000 { flight.value!.report(WorkProgress(completed: Int64(number))) }
        flight.value!.yield(7)
        #expect(context.readyCount == 1)
        flight.value!.succeed(1)
        #expect(context.readyCount == 2)
        context.runReady()
        #expect(listener.received.value == ["300000", "nearly 7", "end"])
    }

    @Test
    func `Law 31: reports made within a job and through another graph replace each other too`() {
        let (file, flight) = begun(on: context)
        let listener = Listener()
        let copy: SharedWork<Int> = WorkGraph(on: context).work(named: "copy") { $0.follow(file) }
        copy.subscribe { listener.receive($0) }
        context.runReady()
        // Within a job of its own graph: these reports are handled in a job behind that one.
        flight.value!.onPriority { _ in
            for number in 1...1_000 { flight.value!.report(WorkProgress(completed: Int64(number))) }
        }
        context.runReady()
        flight.value!.succeed(1)
        context.runReady()
        #expect(listener.received.value == ["1000", "end"])
        flight.value = nil
    }

    @Test func `Law 10: a subscriber that leaves with events queued frees its handler at once`() {
        final class Witness: Sendable {}
        weak var seen: Witness?
        let (work, flight) = begun(on: context)
        let slow = ManualContext()
        let subscription: Subscription
        do {
            let witness = Witness()
            seen = witness
            subscription = work.subscribe(on: slow) { _ in _ = witness }
        }
        let other = work.subscribe { _ in }
        context.runReady()
        flight.value!.yield(1)
        context.runReady()
        subscription.cancel()
        context.runReady()
        #expect(seen == nil)
        other.cancel()
    }

    /// A context that runs its jobs in any order, and may drop some of them.
    private final class Hostile: ExecutionContext {
        private let jobs = Box<[Work]>([])
        let drops: Bool

        init(drops: Bool) { self.drops = drops }

        func execute(_ work: @escaping Work) { jobs.withValue { $0.append(work) } }

        /// Runs one of the queued jobs; false if there is none.
        func step(_ rng: inout SeededRNG) -> Bool {
            let draw = (rng.next(below: 1 << 20), rng.next(below: 6))
            let job = jobs.withValue { $0.isEmpty ? nil : $0.remove(at: draw.0 % $0.count) }
            guard let job else { return false }
            if !drops || draw.1 > 0 { job() }
            return true
        }
    }

    @Test(arguments: 1...40)
    func `Law 31: on a context in any order events arrive in order, and the end once and last`(
        seed: UInt64
    ) {
        var rng = SeededRNG(seed: seed << 32)
        let (work, flight) = begun(on: context)
        let hostile = Hostile(drops: seed % 2 == 0)
        let listeners = (0..<3).map { _ in Listener() }
        let subscriptions = listeners.map { listener in
            work.subscribe(on: hostile) { listener.receive($0) }
        }
        context.runReady()
        let leaver = rng.next(below: 6)
        for number in 1...60 {
            if rng.next(below: 2) == 0 {
                flight.value!.report(WorkProgress(completed: Int64(number)))
            } else {
                flight.value!.yield(number)
            }
            if rng.next(below: 3) > 0 { context.runReady() }
            for _ in 0..<rng.next(below: 3) { _ = hostile.step(&rng) }
            if number == 30, subscriptions.indices.contains(leaver) {
                subscriptions[leaver].cancel()
            }
        }
        flight.value!.succeed(0)
        context.runReady()
        while hostile.step(&rng) {}
        for (index, listener) in listeners.enumerated() {
            let received = listener.received.value
            let numbers = received.compactMap { Int($0.split(separator: " ").last!) }
            #expect(numbers == numbers.sorted())
            #expect(Set(numbers).count == numbers.count)
            let ends = received.count { $0 == "end" }
            if index == leaver {
                #expect(ends == 0)
            } else if !hostile.drops {
                #expect(ends == 1)
                #expect(received.last == "end")
            } else if ends > 0 {
                // The end may be missing: its delivery is retried once, and both may be dropped.
                #expect(ends == 1)
                #expect(received.last == "end")
            }
        }
    }
}
