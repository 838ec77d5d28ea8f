import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Submissions that wait for room, over bases that may run a job inside the call that submits it.
@Suite(.patient)
struct BoundedOrderTests {
    @Test func `Law 2: jobs that wait for room on an inline base run in the order of submission`() {
        let manual = ManualContext()
        let view = manual.inlineIfCurrent().bounded(to: 1, overflow: .wait)
        let log = Box<[Int]>([])
        for index in 0..<10 { view.submit { log.withValue { $0.append(index) } } }
        manual.runReady()
        #expect(log.value == Array(0..<10))
    }

    @Test(arguments: 1..<4, 0..<20 as Range<UInt64>)
    func `Laws 2, 6: a job that a job submits overtakes none that waits for room`(
        capacity: Int, seed: UInt64
    ) {
        let manual = ManualContext()
        let view = manual.inlineIfCurrent().bounded(to: capacity, overflow: .wait)
        let rng = Box(SeededRNG(seed: seed))
        let (submitted, ran) = (Box(0), Box<[Int]>([]))
        @Sendable func submit() {
            let number = submitted.withValue { submitted in
                submitted += 1
                return submitted - 1
            }
            view.submit {
                ran.withValue { $0.append(number) }
                let count = rng.withValue { $0.next(below: 3) }
                for _ in 0..<count where submitted.value < 200 { submit() }
            }
        }
        for _ in 0..<5 {
            for _ in 0..<4 { submit() }
            manual.runReady()
        }
        #expect(ran.value == Array(0..<submitted.value))
    }

    @Test func `Law 1: a job that waited for room may submit, and wait, as one that did not`() {
        let manual = ManualContext()
        let view = manual.inlineIfCurrent().bounded(to: 1, overflow: .wait)
        let ran = Box(0)
        view.submit {}
        view.submit {
            for _ in 0..<3 { view.execute { ran.withValue { $0 += 1 } } }
            let answer = try? view.submit { 7 }.wait()
            ran.withValue { $0 += answer ?? 0 }
        }
        manual.runReady()
        #expect(ran.value == 10)
    }

    @Test func `Law 10: a job that waited for room is freed as soon as it has run`() {
        let manual = ManualContext()
        let view = manual.bounded(to: 1, overflow: .wait)
        let freed = Box(0)
        for _ in 0..<20 {
            let farewell = Farewell { freed.withValue { $0 += 1 } }
            view.submit { withExtendedLifetime(farewell) {} }
        }
        for index in 1...20 {
            manual.step()
            #expect(freed.value == index)
        }
    }

    @Test func `Law 9: the deinit of a capture may submit, though its job waited for room`() async {
        await watched {
            let manual = ManualContext()
            let view = manual.bounded(to: 1, overflow: .wait)
            let log = Box<[Int]>([])
            for index in 0..<100 {
                let farewell = Farewell { view.submit { log.withValue { $0.append(index) } } }
                view.submit { withExtendedLifetime(farewell) {} }
            }
            manual.runReady()
            #expect(log.value.sorted() == Array(0..<100))
        }
    }

    @Test(arguments: [Moody.Manner.inline, .dropping, .refusing])
    func `Law 1: very many submissions that wait for room need no more stack than one`(
        _ manner: Moody.Manner
    )
        async
    {
        await onSmallStack {
            let base = Moody(manner, seed: 1)
            let view = base.bounded(to: 1, overflow: .wait)
            let answers = Box(0)
            let count = rounds(debug: 6_000, release: 100_000)
            for _ in 0..<count { view.submit {}.onComplete { _ in answers.withValue { $0 += 1 } } }
            base.runAll()
            #expect(answers.value == count)
        }
    }

    @Test(arguments: Moody.Manner.allCases, 0..<8 as Range<UInt64>)
    func `Laws 1, 2, 10: over any serial base, jobs run once, in order, each freed before the next`(
        _ manner: Moody.Manner, _ seed: UInt64
    ) {
        let base = Moody(manner, seed: seed)
        var rng = SeededRNG(seed: seed)
        let view = base.bounded(to: 1 + rng.next(below: 3), overflow: .wait)
        let ledger = OrderLedger()
        func submit(depth: Int) {
            let number = ledger.submit()
            let nested = depth > 0 ? (0..<rng.next(below: 4)).map { _ in rng.next(below: 2) } : []
            let farewell = Farewell { ledger.free(number) }
            view.submit {
                withExtendedLifetime(farewell) {}
                ledger.run(number) { for _ in nested { ledger.later() } }
            }.onComplete { _ in ledger.answer() }
        }
        for _ in 0..<200 {
            submit(depth: 2)
            // The next job of the base submits the jobs that these ask for.
            let more = ledger.takeLater()
            if more > 0 {
                base.execute { for _ in 0..<more { view.submit { ledger.count() } } }
            }
            if rng.next(below: 3) == 0 { base.runSome(1 + rng.next(below: 4)) }
        }
        base.runAll()
        ledger.expectAll()
        if manner != .dropping && manner != .refusing { ledger.expectAllRan() }
    }
}

/// The outcomes of numbered jobs.
final class OrderLedger: Sendable {
    private struct State {
        var submitted = 0, answered = 0, later = 0, counted = 0
        var ran: [Int] = []
        var running: [Int] = []
        var freed: Set<Int> = []
        var faults: [String] = []
    }

    private let state = Box(State())

    func submit() -> Int {
        state.withValue { state in
            defer { state.submitted += 1 }
            return state.submitted
        }
    }

    func run(_ number: Int, _ body: () -> Void) {
        state.withValue { state in
            if let last = state.ran.last, last >= number {
                state.faults.append("\(number) after \(last)")
            }
            for other in state.ran
            where !state.freed.contains(other) && !state.running.contains(other) {
                state.faults.append("\(other) is kept while \(number) runs")
            }
            state.ran.append(number)
            state.running.append(number)
        }
        body()
        state.withValue { _ = $0.running.popLast() }
    }

    func free(_ number: Int) { state.withValue { _ = $0.freed.insert(number) } }
    func answer() { state.withValue { $0.answered += 1 } }
    func later() { state.withValue { $0.later += 1 } }
    func count() { state.withValue { $0.counted += 1 } }
    func takeLater() -> Int {
        state.withValue { state in
            defer { state.later = 0 }
            return state.later
        }
    }

    func expectAll() {
        let state = state.value
        #expect(state.faults.isEmpty, "\(state.faults.prefix(5))")
        #expect(state.answered == state.submitted)
        #expect(state.freed.count == state.submitted)
    }

    func expectAllRan() { #expect(state.value.ran == Array(0..<state.value.submitted)) }
}

/// A serial base that the test drives. It may run jobs inline, or drop or refuse them.
final class Moody: SerialContext {
    /// What the base does with a submission from inside one of its jobs. It runs a job inline
    /// only while none is queued.
    enum Manner: CaseIterable, Sendable { case queues, inline, sometimesInline, dropping, refusing }

    private struct State {
        var queue: [Work] = []
        var rng: SeededRNG
        var running: UInt32?
    }

    private let manner: Manner
    private let state: Box<State>

    init(_ manner: Manner, seed: UInt64) {
        self.manner = manner
        state = Box(State(rng: SeededRNG(seed: seed)))
    }

    var isCurrent: Bool? { state.value.running != nil }

    func execute(_ work: @escaping Work) {
        let isDropped = state.withValue { state in
            (manner == .dropping || manner == .refusing) && state.running != nil
                && state.rng.next(below: 3) != 0
        }
        if isDropped { return }
        let isInline = state.withValue { state in
            state.running != nil && state.queue.isEmpty
                && (manner == .inline
                    || manner == .sometimesInline && state.rng.next(below: 2) == 0)
        }
        isInline ? work() : enqueue(work)
    }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        let isRefused = state.withValue { state in
            manner == .refusing && state.running != nil && state.rng.next(below: 3) != 0
        }
        isRefused ? refused(Refusal(.full(capacity: 0), by: "moody")) : execute(work)
    }

    func enqueue(_ work: @escaping Work) { state.withValue { $0.queue.append(work) } }

    func runSome(_ count: Int) { for _ in 0..<count where !runNext() { return } }

    func runAll() { while runNext() {} }

    private func runNext() -> Bool {
        var next: Work? = state.withValue { state in
            if state.queue.isEmpty { return nil }
            state.running = 0
            return state.queue.removeFirst()
        }
        guard next != nil else { return false }
        next.take()?()
        state.withValue { $0.running = nil }
        return true
    }
}

/// Runs `body` on a thread with half a megabyte of stack.
func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            body()
            continuation.resume()
        }
        thread.stackSize = 1 << 19
        thread.start()
    }
}
