import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Where the body of a `sync` runs: on its caller, unless the context means a certain thread.
@Suite(.serialized, .patient)
struct SyncPlaceTests {
    /// Every context, and the coordinators' sides, under each layer and under pairs of layers.
    @Test(arguments: Placed.bases)
    func `Law 4: a sync body runs on its caller, in order and alone, and is inside of the context`(
        _ base: Placed
    ) async {
        var rng = SeededRNG(seed: UInt64(base.subject.name.count))
        var stacks: [[Layer]] = [[]] + Layer.allCases.map { [$0] }
        for _ in 0..<rounds(debug: 8, release: 60) {
            stacks.append(
                (0..<2).map { _ in Layer.allCases[rng.next(below: Layer.allCases.count)] })
        }
        for layers in stacks {
            let visit = Visit(to: base, through: layers)
            for origin in Origin.allCases where origin != .main || base.means != .main {
                await origin.call { visit.make($0) }
            }
            #expect(visit.faults.isEmpty, "\(visit.name): \(visit.faults.prefix(4))")
        }
    }

    @Test func `Law 4: values that a view binds, and what a decorator adds, are in the sync body`()
        async
    {
        await offThePool {
            let local = ThreadLocalValue<Int>()
            local.set(1)
            let queue = SerialQueueContext(name: "queue")
            #expect(queue.binding(local, to: 2).serial().sync { local.cachedValue() } == 2)
            let marking = Marking(base: queue, local: local)
            #expect(marking.serial().sync { local.cachedValue() } == 3)
            #expect(local.cachedValue() == 1)
            local.set(nil)
        }
    }

    @Test func `Law 3: a hold that a sync body makes is its caller's, and lasts`() async {
        await watched {
            let way = SerialQueueContext(name: "way").serial()
            let held = GlobalContext().serial(named: "held")
            let hold = Kept()
            way.sync { hold.keep(held.hold()) }
            #expect(held.isCurrent == true && way.isCurrent == false)
            hold.release()
            #expect(held.isCurrent == false)
        }
    }

    @Test func `Law 11: the job that stays for a sync body makes room in its pool`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let view = pool.limited(to: 1).serial()
            #expect(view.sync { try? pool.submit { 1 }.wait() } == 1)
            let done = DispatchSemaphore(value: 0)
            pool.execute {
                view.sync { #expect((try? pool.submit { 2 }.wait()) == 2) }
                done.signal()
            }
            done.wait()
        }
    }

    @Test func `Laws 2, 33: under every schedule a sync body that has a turn runs in order, alone`()
        async
    {
        await underEverySchedule("turns") { sim, onlooker in
            let view = sim.global.limited(to: 2).serial(named: "view")
            for name in ["a", "b"] {
                sim.spawn(name) {
                    view.execute { onlooker.visit("\(name)1") }
                    let thread = Thread.current
                    view.sync {
                        onlooker.expect(thread === Thread.current, "another thread")
                        onlooker.visit("\(name)2")
                    }
                    view.execute { onlooker.visit("\(name)3") }
                }
                sim.finally("\(name) in order") {
                    onlooker.log.filter { $0.hasPrefix(name) } == (1...3).map { "\(name)\($0)" }
                }
            }
        }
    }
}

/// A user's own decorator, which sets a value on the thread of a job.
private struct Marking<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let local: ThreadLocalValue<Int>

    func decorate(_ work: @escaping Work) -> Work { { local.withValue(3) { work() } } }
}
