internal import CoreFoundation
public import Foundation

/// Runs work on one thread of its own, in a run loop: for libraries that want always the same thread.
///
/// Timers, ports and other sources can be added to the run loop by work that runs there. The thread ends
/// when the context is gone and its work done; none of the work is lost (law 10).
public final class RunLoopThreadContext: SerialContext {
    public let name: String
    private let loop: Loop

    /// Starts a thread with a run loop.
    public init(name: String, qos: QualityOfService = .default) {
        self.name = name
        loop = Loop(name: name, qos: qos)
    }

    deinit { loop.finish() }

    public func execute(_ work: @escaping Work) {
        Seam.leaves(for: name)
        loop.perform(work)
    }

    /// Yes on the thread, no on every other (law 4).
    public var isCurrent: Bool? { Thread.current === loop.thread }
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
/// Unchecked: `thread` and `runLoop` are set before `init` returns. `runLoop` is not changed after, and takes
/// blocks and wakes from any thread; `thread` is cleared when the context, its only reader, is gone; `isDraining`
/// belongs to the thread.
private final class Loop: @unchecked Sendable {
    private struct State: ~Copyable {
        var waiting = WorkQueue()
        var isFinished = false
    }

    private let state = Guarded(State())
    private(set) var thread: Thread!
    private var runLoop: CFRunLoop!
    private var isDraining = false

    init(name: String, qos: QualityOfService) {
        let isRunning = DispatchSemaphore(value: 0)
        thread = Thread {
            // From inside: a name given from outside, before the start, is lost on Linux.
            Thread.current.name = name
            self.runLoop = CFRunLoopGetCurrent()
            // A run loop with nothing to wait for returns at once; this timer never fires.
            let forever = Timer(fire: .distantFuture, interval: .infinity, repeats: false) { _ in }
            RunLoop.current.add(forever, forMode: .default)
            isRunning.signal()
            while !self.isDone { CFRunLoopRun() }
            forever.invalidate()
            // A thread keeps its closure, and so would keep this, and this the thread, for ever (law 10).
            self.thread = nil
        }
        thread.qualityOfService = qos
        thread.start()
        isRunning.wait()
    }

    func perform(_ work: @escaping Work) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
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
        CFRunLoopPerformBlock(runLoop, kCFRunLoopDefaultMode) { [weak self] in
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
        for _ in 0..<state.withLock({ $0.waiting.count }) {
            state.withLock { $0.waiting.popFirst() }?()
        }
        isDraining = false
        if state.withLock({ !$0.waiting.isEmpty }) { wake { $0.drain() } }
    }
}
