import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Waits that could never end trap with a message that names the caller, the context that it waits
/// for, and a remedy (law 27).
@Suite(.patient)
struct EndlessWaitTests {
    /// Contexts that run one job at a time, and cannot run another one while that job waits.
    enum Base: Int, CaseIterable, Sendable {
        case main, thread, queue, limited, view, barrier, heldQueue, heldView, heldBarrier,
            decorated, actor,
            manual

        /// Runs `body` inside the one job, or inside the hold.
        func inside(_ body: @escaping @Sendable (any ExecutionContext) -> Void) {
            switch self {
            case .main: body(MainContext())
            case .thread: run(ThreadContext(name: "base"), body)
            case .queue: run(SerialQueueContext(name: "base"), body)
            case .limited: run(GlobalContext().limited(to: 1, named: "base"), body)
            case .view: run(SerialQueueContext(name: "below").serial(named: "base"), body)
            case .barrier:
                let context = BarrierQueueContext(name: "base")
                context.executeBarrier { body(context) }
            case .heldQueue: hold(SerialQueueContext(name: "base"), body)
            case .heldView: hold(SerialQueueContext(name: "below").serial(named: "base"), body)
            case .heldBarrier: hold(BarrierQueueContext(name: "base"), body)
            case .decorated:
                run(
                    SerialQueueContext(name: "base").named("base").observed(by: NoObserver()), body
                )
            case .actor: run(ActorContext(Host()), body)
            case .manual:
                let context = ManualContext(name: "base")
                context.execute { body(context) }
                context.runReady()
            }
            // The process ends before this wait does.
            DispatchSemaphore(value: 0).wait()
        }

        private func run(
            _ context: some ExecutionContext,
            _ body: @escaping @Sendable (any ExecutionContext) -> Void
        ) { context.execute { body(context) } }

        private func hold(
            _ context: some SynchronousBarrierContext,
            _ body: @escaping @Sendable (any ExecutionContext) -> Void
        ) {
            let hold = context.hold()
            body(context)
            hold.release()
        }
    }

    /// Ways to wait for a view of the base.
    enum Way: Int, CaseIterable, Sendable {
        case sync, hold, wrapper, mutate, over, timed, viewOfView, limitedView, crossing

        func wait(on base: any ExecutionContext) {
            let view = base.serial(named: "v")
            switch self {
            case .sync: view.sync {}
            case .hold:
                view.execute {}
                view.hold().release()
            case .wrapper: _ = TransactionWrapper(wrappedValue: 1, on: view).wrappedValue
            case .mutate: TransactionWrapper(wrappedValue: 1, on: view).mutate { $0 += 1 }
            case .over: ReadWriteCoordinator(over: view).read {}
            case .timed: ReadWriteCoordinator(over: view).blockingWrite {}
            case .viewOfView: view.serial(named: "w").sync {}
            case .limitedView: base.limited(to: 4).serial(named: "v").sync {}
            case .crossing:
                // The body runs on another thread, and waits for the base from there.
                ClosureContext { DispatchQueue.global().async(execute: $0) }.serial().sync {
                    view.sync {}
                }
            }
        }
    }

    // Each case runs in a process of its own, which is slow. So: every base with one way, and every
    // way with one base.
    static let cases: [[Int]] =
        Base.allCases.map { [$0.rawValue, Way.sync.rawValue] }
        + Way.allCases.dropFirst().map { [Base.queue.rawValue, $0.rawValue] }

    #if compiler(>=6.3)
    @Test(arguments: cases)
    func `Law 27: a wait from inside the base's own job traps with a message`(_ choice: [Int])
        async throws
    {
        let (base, way) = (choice[0], choice[1])
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            [base = base as Int, way = way as Int] in
            let way = try #require(Way(rawValue: way))
            let base = try #require(Base(rawValue: base))
            Thread.detachNewThread {
                if base != .main { base.inside { way.wait(on: $0) } }
            }
            if base == .main { DispatchQueue.main.async { base.inside { way.wait(on: $0) } } }
            // The process ends before this wait does.
            await neverReturns()
        }
        try expectTrap(result, "law 27", "never end", "execute or run")
    }
    #endif

    @Test func `Law 27: a wait inside the last permit of a limited view traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let base = GlobalContext().limited(to: 2, named: "two")
            base.execute {
                base.serial(named: "first").sync { base.serial(named: "second").sync {} }
            }
            await neverReturns()
        }
        // Both threads wait for ever, and either of them may be the last to begin.
        try expectTrap(result, "'two'", "law 27", "never end")
    }

    #if compiler(>=6.3)
    @Test(arguments: [false, true])
    func `Law 27: a read or write behind a write that the caller's own job blocks traps`(
        _ isWrite: Bool
    ) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            [isWrite = isWrite as Bool] in
            let base = GlobalContext().limited(to: 1, named: "base")
            let queue = SerialQueueContext(name: "base")
            let coordinator =
                isWrite
                ? ReadWriteCoordinator(name: "store", writesOn: base.serial())
                : ReadWriteCoordinator(name: "store", writesOn: queue.serial())
            let job: Work = {
                coordinator.enqueueWrite {}
                isWrite ? coordinator.blockingWrite {} : coordinator.read {}
            }
            isWrite ? base.execute(job) : queue.execute(job)
            await neverReturns()
        }
        try expectTrap(result, "'store'", "'base'", "law 27", "never end")
    }
    #endif

    @Test func `Law 27: an endless wait on a foreign serial dispatch queue traps, too`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let base = DispatchQueue(label: "plain").context
            base.execute { base.serial(named: "v").sync {} }
            await neverReturns()
        }
        try expectTrap(result, "'v'", "plain", "law 27")
    }

    @Test
    func `Law 1: a wait for a view whose token is invalidated traps and names the token`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let token = InvalidationToken()
            token.invalidate()
            GlobalContext().valid(while: token).serial(named: "screen").sync {}
        }
        try expectTrap(result, "'screen'", "token", "law 1", "run or submit")
    }

    // MARK: Waits that end

    @Test func `Law 27: a wait inside a limited view that has a permit left ends`() async {
        await watched {
            let base = GlobalContext().limited(to: 3)
            let done = DispatchSemaphore(value: 0)
            base.execute {
                base.serial(named: "first").sync { base.serial(named: "second").sync {} }
                done.signal()
            }
            done.wait()
        }
    }

    @Test func `Law 27: a wait inside a concurrent queue's job ends`() async {
        await watched {
            let base = DispatchQueue(label: "concurrent", attributes: .concurrent).context
            let own = BarrierQueueContext(name: "own")
            let done = DispatchSemaphore(value: 0)
            for base in [base, own] as [any ExecutionContext] {
                base.execute {
                    base.serial().sync {}
                    done.signal()
                }
                done.wait()
            }
        }
    }

    @Test
    func
        `Law 27: inside the base, holding an idle view and a sync over an inline base do not wait`()
        async
    {
        await watched {
            let base = SerialQueueContext(name: "base")
            let inline = base.inlineIfCurrent()
            let done = DispatchSemaphore(value: 0)
            base.execute {
                base.serial().hold().release()
                #expect(inline.serial().sync { 1 } == 1)
                done.signal()
            }
            done.wait()
        }
    }

    @Test(arguments: [64, 600])
    func `Laws 11, 20: a chain of views that wait for one another needs no thread of Dispatch`(
        _ count: Int
    ) async {
        await watched {
            let views = (0..<count).map { GlobalContext().serial(named: "\($0)") }
            let end = DispatchSemaphore(value: 0)
            for index in views.indices {
                views[index].execute {
                    index + 1 < count ? views[index + 1].sync {} : ()
                    end.signal()
                }
            }
            for _ in views { end.wait() }
        }
    }
}

/// Suspends for ever. The process ends meanwhile.
private func neverReturns() async {
    await withCheckedContinuation { continuation in
        Endless.kept.withValue { $0.append(continuation) }
    }
}

/// Keeps continuations that are never resumed.
private enum Endless { static let kept = Box<[CheckedContinuation<Void, Never>]>([]) }
