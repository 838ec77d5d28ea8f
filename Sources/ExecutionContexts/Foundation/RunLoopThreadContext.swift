#if Foundation
internal import CoreFoundation
public import Foundation

/// Runs work in order on a thread of its own, which serves a run loop.
///
/// Work that runs there may add timers, ports and other sources to the run loop. The thread ends
/// when the context is gone and its work done. No work is dropped (law 10). A thread without a run
/// loop has ``ThreadContext``.
public final class RunLoopThreadContext: ActorBackingContext {
    public let name: String
    private let loop: Loop

    /// Starts a thread with a run loop. Traps where the system has none.
    public init(name: String, qos: QualityOfService = .default) {
        self.name = name
        loop = Loop(name: name, qos: qos)
    }

    deinit { loop.finish() }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        loop.perform(consume work)
    }

    /// Yes on the thread, no on every other; not known if the thread waits for the caller (law 4).
    ///
    /// A body that another thread runs for this thread by `sync` is a part of this thread's work,
    /// and does not run on this thread.
    public var isCurrent: Bool? {
        if unsafe Threads.own == loop.record { return true }
        return unsafe Threads.current == loop.record ? nil : false
    }

    public var facts: ContextFacts {
        ContextFacts { [self] in if isCurrent != false { $0.obstacle = name } }
    }
}

extension ExecutionContext where Self == RunLoopThreadContext {
    /// A new thread with a run loop.
    public static func runLoopThread(
        named name: String, qos: QualityOfService = .default
    ) -> RunLoopThreadContext {
        RunLoopThreadContext(name: name, qos: qos)
    }
}

extension QualityOfService {
    fileprivate var dispatchClass: DispatchQoS.QoSClass {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: .default
        }
    }
}

/// The part that the thread itself keeps alive.
///
/// Unchecked: `record` and `runLoop` are set before `init` returns and do not change after; the run
/// loop takes blocks and wake-ups from any thread; only the thread itself uses `isDraining`.
@safe private final class Loop: @unchecked Sendable {
    private struct State: ~Copyable {
        var queue = WorkQueue()
        var isFinished = false
    }

    private let state = Guarded(State())
    private var runLoop: CFRunLoop!
    private var isDraining = false
    /// The library's record of the thread, valid as long as the context is there.
    private(set) var record: ThreadRecord!

    init(name: String, qos: QualityOfService) {
        // The thread is outside of simulations, and so is what it signals.
        let isRunning = SimulationHooks.outside { DispatchSemaphore(value: 0) }
        LibraryThreads.start(named: name, quality: qos.dispatchClass.number) { [self] in
            run(named: name, isRunning)
        }
        SimulationHooks.outside { isRunning.wait() }
    }

    private func run(named name: String, _ isRunning: DispatchSemaphore) {
        Thread.current.name = name
        runLoop = CFRunLoopGetCurrent()
        unsafe record = Threads.own
        // A run loop without a source or timer returns at once; this timer never fires.
        let forever = Timer(fire: .distantFuture, interval: .infinity, repeats: false) { _ in }
        RunLoop.current.add(forever, forMode: .default)
        isRunning.signal()
        while !isDone { CFRunLoopRun() }
        forever.invalidate()
    }

    func perform(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(consume work)
        let isFirst = state.withLock { state in
            state.queue.append(work.assembled())
            return state.queue.count == 1
        }
        if isFirst { wake { $0.drain() } }
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        wake { _ in }
    }

    private var isDone: Bool { state.withLock { $0.isFinished && $0.queue.isEmpty } }

    private func wake(_ block: @escaping @Sendable (Loop) -> Void) {
        // Weak: a block that comes when the thread has just ended never runs. A strong reference
        // would then keep the run loop and this object, which keeps the run loop, for ever.
        CFRunLoopPerformBlock(runLoop, RunLoops.defaultMode) { [weak self] in
            guard let self else { return }
            block(self)
            // Not inside a job, where the call would stop a run loop of the job.
            if !self.isDraining, self.isDone { CFRunLoopStop(self.runLoop) }
        }
        CFRunLoopWakeUp(runLoop)
    }

    /// Runs the jobs that were queued when it began, then returns to the run loop.
    private func drain() {
        // A job may run the run loop, which calls this: queued jobs come after that job (law 2).
        if isDraining { return }
        isDraining = true
        unsafe Frame.enterJobs(of: Frame.owner(self)) {
            for _ in 0..<state.withLock({ $0.queue.count }) {
                if let work = state.withLock({ $0.queue.popFirst() }) { AutoreleasePool.run(work) }
                Frame.endJob()
            }
        }
        isDraining = false
        if state.withLock({ !$0.queue.isEmpty }) { wake { $0.drain() } }
    }
}
#endif
