internal import CoreFoundation
public import Foundation

/// Runs work on one thread of its own, in a run loop: for libraries that want always the same thread.
///
/// Timers, ports and other sources can be added to the run loop by work that runs there. The thread ends
/// when the context is gone and its work done; none of the work is lost (law 10).
public final class RunLoopThreadContext: ActorBackingContext, ForeseeingContext {
    public let name: String
    private let loop: Loop

    /// Starts a thread with a run loop.
    public init(name: String, qos: QualityOfService = .default) {
        self.name = name
        loop = Loop(name: name, qos: qos)
    }

    deinit { loop.finish() }

    public func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        loop.perform(consume work)
    }

    /// Yes on the thread, no on every other; not known where the thread waits for the caller (law
    /// 4).
    ///
    /// What another thread runs for this one by `sync` is a part of this one's work, and still not
    /// on this thread.
    public var isCurrent: Bool? {
        if unsafe Threads.own == loop.record { return true }
        return unsafe Threads.current == loop.record ? nil : false
    }

    package func foresee(_ outlook: inout Outlook) {
        if isCurrent != false { outlook.obstacle = name }
    }
}

extension ExecutionContext where Self == RunLoopThreadContext {
    /// A new thread with a run loop.
    public static func thread(
        name: String, qos: QualityOfService = .default
    ) -> RunLoopThreadContext {
        RunLoopThreadContext(name: name, qos: qos)
    }
}

/// The part that the thread itself keeps alive.
///
/// Unchecked: `record` and `runLoop` are set before `init` returns and are not changed after; the run
/// loop takes blocks and wakes from any thread; `isDraining` belongs to the thread.
@safe private final class Loop: @unchecked Sendable {
    private struct State: ~Copyable {
        var waiting = WorkQueue()
        var isFinished = false
    }

    private let state = Guarded(State())
    private var runLoop: CFRunLoop!
    private var isDraining = false
    /// What the library knows the thread by, as long as the context is there.
    private(set) var record: ThreadRecord!

    init(name: String, qos: QualityOfService) {
        let isRunning = DispatchSemaphore(value: 0)
        let thread = Thread {
            // From inside: a name given from outside, before the start, is lost on Linux.
            Thread.current.name = name
            self.runLoop = CFRunLoopGetCurrent()
            unsafe self.record = Threads.own
            // A run loop with nothing to wait for returns at once; this timer never fires.
            let forever = Timer(fire: .distantFuture, interval: .infinity, repeats: false) { _ in }
            RunLoop.current.add(forever, forMode: .default)
            isRunning.signal()
            while !self.isDone { CFRunLoopRun() }
            forever.invalidate()
        }
        thread.qualityOfService = qos
        thread.start()
        isRunning.wait()
    }

    func perform(_ work: consuming @escaping Work) {
        let work = LooseWork(consume work)
        let isFirst = state.withLock { state in
            state.waiting.append(work.assembled())
            return state.waiting.count == 1
        }
        if isFirst { wake { $0.drain() } }
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        wake { _ in }
    }

    private var isDone: Bool { state.withLock { $0.isFinished && $0.waiting.isEmpty } }

    private func wake(_ block: @escaping @Sendable (Loop) -> Void) {
        // Weak: a block that comes when the thread has just ended never runs, and would keep the run loop and
        // this, which keeps the run loop, for ever.
        CFRunLoopPerformBlock(runLoop, RunLoops.defaultMode) { [weak self] in
            guard let self else { return }
            block(self)
            // Not from within a piece, whose own run loop would be stopped in place of the thread's.
            if !self.isDraining, self.isDone { CFRunLoopStop(self.runLoop) }
        }
        CFRunLoopWakeUp(runLoop)
    }

    /// Runs what was waiting when it began, then lets the run loop serve its other sources.
    private func drain() {
        // A piece may run the run loop, which comes here: what waits comes after that piece (law 2).
        if isDraining { return }
        isDraining = true
        unsafe Frame.enterJobs(of: Frame.owner(self)) {
            for _ in 0..<state.withLock({ $0.waiting.count }) {
                if let work = state.withLock({ $0.waiting.popFirst() }) { Batch.run(work) }
                Frame.endJob()
            }
        }
        isDraining = false
        if state.withLock({ !$0.waiting.isEmpty }) { wake { $0.drain() } }
    }
}
