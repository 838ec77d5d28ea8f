import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// What the tests of queues, limiters, debounces and throttles have in common.
enum Lab {
    /// Runs a body that blocks its thread on a thread of its own, not on one of the cooperative pool.
    static func offThePool(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    /// Runs `body` with 0, 1, ... on so many threads of their own at the same time, and returns when all have ended.
    static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ready = DispatchGroup()
        let start = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        for index in 0..<count {
            ready.enter()
            done.enter()
            Thread.detachNewThread {
                ready.leave()
                start.wait()
                body(index)
                done.leave()
            }
        }
        ready.wait()
        for _ in 0..<count { start.signal() }
        done.wait()
    }

    /// How often a race is run: debug builds look for what is wrong at once, release builds for what is rare.
    static func rounds(debug: Int, release: Int) -> Int {
        #if DEBUG
        debug
        #else
        release
        #endif
    }

    /// Fails the test where one of many schedules of a program shows a fault.
    static func underEverySchedule(
        _ name: String, schedules: Int = 300, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (SimulatedWorld) -> Void
    ) async {
        let failure = Cell<SimulationFailure?>(nil)
        await offThePool { failure.value = search(name, schedules: schedules) { sim in body(sim) }.failure }
        #expect(failure.value == nil, sourceLocation: sourceLocation)
    }

    /// Expects that a program stopped with a sentence that contains all the parts.
    static func expectSentence(
        _ result: ExitTest.Result?, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let output = try #require(result, sourceLocation: sourceLocation).standardErrorContent
        let text = String(decoding: output, as: UTF8.self)
        for part in parts { #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation) }
    }

    /// A value that several threads may use, one at a time; its lock is no point of a simulation.
    final class Cell<Value: Sendable>: @unchecked Sendable {
        // Unchecked: `stored` is reached only under `lock`, which the thread sanitizer understands.
        private let lock = NSLock()
        private var stored: Value

        init(_ value: Value) { stored = value }

        var value: Value {
            get { withValue { $0 } }
            set { withValue { $0 = newValue } }
        }

        func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
            lock.lock()
            defer { lock.unlock() }
            return try body(&stored)
        }
    }

    /// Random numbers that a seed decides.
    struct Dice {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

        /// A number from zero to below `sides`, from SplitMix64.
        mutating func roll(_ sides: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % UInt64(sides))
        }
    }

    /// Calls something when it goes.
    final class Farewell: Sendable {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    /// A base that does not run all that it is given, until it is mended.
    final class BadBase: ExecutionContext {
        enum Fault: CaseIterable, Sendable { case refuses, drops, dropsLate }

        private let fault: Fault
        private let kept = Cell<[Work]>([])
        private let mended = Cell(false)

        init(_ fault: Fault) { self.fault = fault }

        func mend() { mended.value = true }

        /// Lets go of what was kept, outside of the lock.
        func letGo() {
            let works = kept.withValue { works -> [Work] in
                defer { works = [] }
                return works
            }
            // Or an optimised build lets go of them inside, as soon as nobody needs them.
            withExtendedLifetime(works) {}
        }

        var name: String { "bad" }

        func execute(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func enqueue(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
            if mended.value { return work() }
            switch fault {
            case .refuses: refused(Refusal(.full(capacity: 0), by: name))
            case .drops: return
            case .dropsLate: kept.withValue { $0.append(work) }
            }
        }
    }
}
