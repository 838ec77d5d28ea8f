import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The shipped types that share state, under hundreds of schedules. A token replays each of them.
@Suite(.patient)
struct SharedStateScheduleTests {
    /// Two halves that belong together. Between them, a change and a read have a scheduling point.
    private struct Pair: Sendable {
        var left = 0
        var right = 0

        mutating func grow(_ sim: SimulatedWorld) {
            left += 1
            sim.step()
            right += 1
        }

        /// The size, or nil if the halves differ.
        func size(_ sim: SimulatedWorld) -> Int? {
            let seen = left
            sim.step()
            return seen == left && left == right ? seen : nil
        }
    }

    @Test(arguments: [false, true])
    func
        `Laws 17, 30, 33: under every schedule reads of a locked resource are whole, and no write is lost`(
            isSection: Bool
        ) async
    {
        await underEverySchedule("locked resource, by \(isSection ? "section" : "coordinator")") {
            sim, onlooker in
            let writeContext = sim.global.serial(named: "write context")
            let pair =
                isSection
                ? LockedResource(
                    Pair(), lockedBy: .section(CriticalSection(), writesOn: writeContext))
                : LockedResource(
                    Pair(), lockedBy: .coordinator(ReadWriteCoordinator(writesOn: writeContext)))
            for name in ["a", "b"] {
                sim.spawn(name) {
                    pair.mutate { $0.grow(sim) }
                    pair.enqueueWrite { $0.grow(sim) }
                    let size = pair.read { $0.size(sim) }
                    onlooker.expect(size != nil, "a read saw half a change")
                    onlooker.expect(
                        (size ?? 0) >= (isSection ? 1 : 2), "\(name) does not see what it wrote")
                }
            }
            sim.finally("all writes") { pair.read { $0.size(sim) } == 4 }
        }
    }

    @Test(arguments: [false, true])
    func `Laws 28, 29, 33: under every schedule each change of a property is one transaction`(
        isView: Bool
    )
        async
    {
        await underEverySchedule("property, on a \(isView ? "view" : "context")") { sim, onlooker in
            let pair: TransactionWrapper<Pair>
            if isView {
                let view: some SynchronousBarrierContext = sim.global.serial(named: "view")
                pair = TransactionWrapper(wrappedValue: Pair(), on: view)
            } else {
                pair = TransactionWrapper(wrappedValue: Pair(), on: sim.barrier(named: "context"))
            }
            sim.spawn("in place") { pair.wrappedValue.grow(sim) }
            sim.spawn("by a copy") { pair.mutate { $0.grow(sim) } }
            sim.spawn("in vain") {
                try? pair.mutate {
                    $0.left += 1
                    sim.step()
                    throw CancellationError()
                }
            }
            sim.spawn("reader") {
                onlooker.expect(pair.wrappedValue.size(sim) != nil, "a read saw half a change")
            }
            sim.finally("both changes, and no part of the third") {
                pair.wrappedValue.size(sim) == 2
            }
        }
    }

    @Test
    func `Laws 28, 33: under every schedule two transactions on one context exclude each other`()
        async
    {
        await underEverySchedule("transactions") { sim, onlooker in
            let context = sim.barrier(named: "context")
            for name in ["a", "b"] {
                sim.spawn(name) {
                    Transaction(on: context).exclusively { onlooker.visit("change") }
                    Transaction(on: context).write { onlooker.visit("\(name) wrote") }
                    Transaction(on: context).read {
                        onlooker.visit(atMost: 2, "read")
                        onlooker.expect(
                            onlooker.count("\(name) wrote") == 1,
                            "\(name) does not see what it wrote")
                    }
                }
            }
            sim.finally("all") { onlooker.log.count == 6 }
        }
    }

    /// Notes its init and its deinit.
    private final class Value: Sendable {
        private let onlooker: Onlooker
        init(_ onlooker: Onlooker) {
            self.onlooker = onlooker
            onlooker.note("made")
        }
        deinit { onlooker.note("freed") }
    }

    @Test
    func
        `Laws 22, 23, 33: under every schedule each thread makes one value, freed when the thread ends`()
        async
    {
        await underEverySchedule("thread-locals") { sim, onlooker in
            let shared = Box<ThreadLocalValue<Value>?>(
                ThreadLocalValue<Value> { _ in Value(onlooker) })
            for name in ["a", "b", "c"] {
                sim.spawn(name) {
                    // The last reference may end here, while other threads have values.
                    guard let local = shared.value else { return }
                    onlooker.expect(
                        local.cachedValue() == nil, "\(name) has the value of another thread")
                    let mine = local.value()
                    sim.step()
                    onlooker.expect(local.value() === mine, "\(name) has lost its value")
                    if name == "b" { local.set(nil) }
                    sim.step()
                    if name == "c" { shared.value = nil }
                    sim.step()
                }
            }
            sim.finally("no value outlives its thread") {
                onlooker.count("made") == onlooker.count("freed")
            }
            sim.finally("at most one value a thread") { onlooker.count("made") <= 3 }
        }
    }

    @Test
    func `Laws 9, 33: under every schedule registrants that stay are visited, hooks run once`()
        async
    {
        await underEverySchedule("registry") { sim, onlooker in
            let registry = Registry<String>()
            let (first, last) = (registry.register("first"), registry.register("last"))
            let leaving = registry.register("leaving") { onlooker.note("left") }
            sim.spawn("visitor") {
                registry.forEach { name in
                    sim.step()
                    onlooker.note(name)
                    if name == "first" { registry.register("more").deregister() }
                }
            }
            for name in ["a", "b"] { sim.spawn(name) { leaving.deregister() } }
            sim.finally("registrants that stay, once and in order") {
                onlooker.log.filter { $0 == "first" || $0 == "last" } == ["first", "last"]
            }
            sim.finally("the other one, deregistered once") {
                onlooker.count("left") == 1 && onlooker.count("leaving") <= 1
                    && registry.registrants == ["first", "last"]
            }
            sim.finally("kept") { withExtendedLifetime((first, last)) { true } }
        }
    }
}
