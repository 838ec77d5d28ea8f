import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Compares a rate limiter with a list of jobs and the times at which tokens come.
@Suite(.patient)
struct RateLimiterModelTests {
    /// The simplest specification. Times are nanoseconds.
    private struct Model {
        let interval: Int64
        let burst: Int64
        var waiting: [Int] = []
        var begun: [String] = []
        /// When the bucket will be full again.
        var full: Int64 = 0

        /// Begins what has a token by `end`, each job as soon as it has one.
        mutating func advance(from now: Int64, to end: Int64) {
            while let first = waiting.first {
                let start = max(now, full - interval * (burst - 1))
                if start > end { return }
                full = max(full, start) + interval
                begun.append("\(first) at \(start)")
                waiting.removeFirst()
            }
        }
    }

    @Test(arguments: 1...UInt64(rounds(debug: 10, release: 600)))
    func `Laws 7, 32: a limiter begins each job when the model does`(_ seed: UInt64) throws {
        var rng = SeededRNG(seed: seed)
        let manual = ManualContext()
        var model = Model(interval: 1_000, burst: Int64(1 + rng.next(below: 4)))
        let limiter = RateLimiter(on: manual, rate: 1e6, burst: Int(model.burst))
        let begun = Box<[String]>([])
        let freed = Box<Set<Int>>([])
        var works: [Int: Async<Void>] = [:]
        var count = 0
        @Sendable func job(_ number: Int) -> Work {
            let capture = Lab.DeinitAction { freed.withValue { _ = $0.insert(number) } }
            return {
                withExtendedLifetime(capture) {
                    begun.withValue { $0.append("\(number) at \(manual.now.nanoseconds)") }
                }
            }
        }
        func cancelSome(_ times: Int) {
            for _ in 0..<times {
                guard let number = works.keys.sorted().randomElement(using: &rng) else { return }
                let isWaiting = model.waiting.contains(number)
                model.waiting.removeAll { $0 == number }
                #expect(works.removeValue(forKey: number)?.cancel() == isWaiting)
                #expect(freed.value.contains(number))
            }
        }
        for _ in 0..<200 {
            switch rng.next(below: 8) {
            case 0...3:
                // Now and then a burst that makes the queue long.
                for _ in 0..<(rng.next(below: 20) == 0 ? 150 : 1) {
                    model.waiting.append(count)
                    if rng.next(below: 3) == 0 {
                        limiter.execute(job(count))
                    } else {
                        works[count] = limiter.submit(job(count))
                    }
                    count += 1
                }
            case 4: cancelSome(1)
            case 5: cancelSome(rng.next(below: 10) == 0 ? 140 : 2)
            default:
                let span = Int64(rng.next(below: 5_000))
                let now = manual.now.nanoseconds
                model.advance(from: now, to: now + span)
                manual.advance(by: .nanoseconds(span))
            }
            let now = manual.now.nanoseconds
            model.advance(from: now, to: now)
            manual.runReady()
            #expect(begun.value == model.begun)
            #expect(limiter.pendingCount == model.waiting.count)
            #expect(manual.delayedCount == (model.waiting.isEmpty ? 0 : 1))
            #expect(freed.value.count == count - model.waiting.count)
        }
    }
}
