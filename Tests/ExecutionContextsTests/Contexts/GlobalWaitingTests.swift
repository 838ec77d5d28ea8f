import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Any number of jobs of `.global` may wait for one another by the library's means (law 11).
@Suite(.serialized, .patient)
struct GlobalWaitingTests {
    @Test func `Law 11: a hundred jobs end although each waits for a view of its own`() async {
        await watched {
            let done = DispatchGroup()
            for number in 0..<100 {
                done.enter()
                GlobalContext().execute {
                    let view = GlobalContext().serial(named: "view \(number)")
                    #expect((try? view.submit { number }.wait()) == number)
                    done.leave()
                }
            }
            done.wait()
        }
    }

    @Test func `Law 11: a chain of 600 views, each waiting for the next one, ends`() async {
        await watched {
            let views = (0..<600).map { GlobalContext().serial(named: "view \($0)") }
            @Sendable func go(_ number: Int) {
                guard number + 1 < views.count else { return }
                views[number + 1].execute { go(number + 1) }
                views[number + 1].sync {}
            }
            let end = DispatchSemaphore(value: 0)
            views[0].execute {
                go(0)
                end.signal()
            }
            end.wait()
        }
    }

    @Test func `Law 4: a job that runs while a hundred jobs wait is on the global context`() async {
        await watched {
            let (mayEnd, seen) = (Promise<Void>(), Box<[Bool?]>([]))
            let jobs = (0..<100).map { _ in GlobalContext().submit { try mayEnd.async.wait() } }
            // These jobs wait for a job that is submitted after them.
            let last = GlobalContext().submit {
                seen.value = [GlobalContext().isCurrent]
                GlobalContext().preconditionIsCurrent()
            }
            last.onComplete { _ in mayEnd.succeed(()) }
            for job in jobs { try? job.wait() }
            #expect(seen.value == [true])
        }
    }

    /// How a job waits for the jobs that it has submitted.
    enum Means: CaseIterable {
        case submitted, view, queue, blocking, coordinator, section
    }

    @Test(arguments: seeds(debug: 12, release: 100))
    func `Law 11: random jobs that wait for the jobs they submit, by any means of the library, end`(
        _ seed: UInt64
    ) async {
        await watched {
            let (section, coordinator) = (CriticalSection(), ReadWriteCoordinator())
            @Sendable func perform(_ depth: Int, _ seed: UInt64) {
                guard depth > 0 else { return }
                var rng = SeededRNG(seed: seed)
                for _ in 0..<(rng.next(below: 3) + 1) {
                    let next = UInt64(rng.next(below: 1_000_000))
                    let means = Means.allCases[rng.next(below: Means.allCases.count)]
                    switch means {
                    case .submitted: try? GlobalContext().submit { perform(depth - 1, next) }.wait()
                    case .view:
                        let view = GlobalContext().serial(named: "view")
                        view.execute { perform(depth - 1, next) }
                        view.sync {}
                    case .queue:
                        SerialQueueContext(name: "queue").sync {
                            try? GlobalContext().submit { perform(depth - 1, next) }.wait()
                        }
                    case .blocking:
                        let end = DispatchSemaphore(value: 0)
                        GlobalContext().execute {
                            perform(depth - 1, next)
                            end.signal()
                        }
                        WorkerPool.blocking { end.wait() }
                    case .coordinator:
                        coordinator.enqueueWrite {}
                        coordinator.read {}
                    case .section: section.execute {}
                    }
                }
            }
            let done = DispatchGroup()
            for number in 0..<24 {
                done.enter()
                GlobalContext().execute {
                    perform(4, seed * 100 + UInt64(number))
                    done.leave()
                }
            }
            done.wait()
        }
    }
}
