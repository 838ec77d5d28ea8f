import CoreFoundation
import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// One script runs on the context of a run loop's thread and on a plain thread with a run loop. The
/// logs must be equal.
@Suite(.patient)
struct RunLoopBesideTests {
    @Test(arguments: RunLoopScript.all)
    func `A job behaves on the context's thread as it does on a plain thread with a run loop`(
        _ script: RunLoopScript
    ) async {
        let plain = PlainRunLoopThread()
        defer { plain.stop() }
        let theirs = await script.log { plain.perform($0) }
        let context = RunLoopThreadContext(name: "ours")
        let ours = await script.log { context.execute($0) }
        #expect(ours == theirs)
    }
}

/// A script for the thread of a run loop, which logs what it observes.
struct RunLoopScript: Sendable, CustomTestStringConvertible {
    typealias Perform = @Sendable (_ work: @escaping Work) -> Void
    let name: String
    /// Runs the script, and calls `end` when it is done.
    private let body:
        @Sendable (_ perform: @escaping Perform, _ log: Box<[String]>, _ end: @escaping Work) ->
            Void

    var testDescription: String { name }

    init(
        _ name: String,
        _ body: @escaping @Sendable (@escaping Perform, Box<[String]>, @escaping Work) -> Void
    ) {
        self.name = name
        self.body = body
    }

    func log(_ perform: @escaping Perform) async -> [String] {
        let log = Box<[String]>([])
        await withCheckedContinuation { continuation in body(perform, log) { continuation.resume() }
        }
        return log.value
    }

    static let all = [order, fromInside, sameThread, timers, timerRemoved, innerLoop, dictionary]

    static let order = RunLoopScript("Blocks in order") { perform, log, end in
        for index in 0..<100 { perform { log.withValue { $0.append("\(index)") } } }
        perform(end)
    }

    static let fromInside = RunLoopScript(
        "A block submitted by a block runs after it, and after earlier blocks"
    ) {
        perform, log, end in
        let isReady = DispatchSemaphore(value: 0)
        perform {
            isReady.wait()
            perform {
                log.withValue { $0.append("inner") }
                end()
            }
            log.withValue { $0.append("outer") }
        }
        perform { log.withValue { $0.append("second") } }
        isReady.signal()
    }

    static let sameThread = RunLoopScript("Always the same thread, which is not the main one") {
        perform, log, end in
        let first = Box<ObjectIdentifier?>(nil)
        perform {
            first.value = ObjectIdentifier(Thread.current)
            log.withValue { $0.append("main \(Thread.isMainThread)") }
        }
        for _ in 0..<10 {
            perform {
                let isSame = ObjectIdentifier(Thread.current) == first.value
                let isItsLoop = RunLoop.current.currentMode == .default
                log.withValue { $0.append("same thread \(isSame), default mode \(isItsLoop)") }
            }
        }
        perform(end)
    }

    static let timers = RunLoopScript(
        "Timers of the run loop, one that repeats and one that does not"
    ) {
        perform, log, end in
        perform {
            let count = Box(0)
            let repeating = Timer(timeInterval: 0.001, repeats: true) { timer in
                let number = count.withValue {
                    $0 += 1
                    return $0
                }
                log.withValue { $0.append("repeated \(number)") }
                guard number == 3 else { return }
                timer.invalidate()
                RunLoop.current.add(
                    Timer(timeInterval: 0.001, repeats: false) { timer in
                        log.withValue { $0.append("once, valid \(timer.isValid)") }
                        end()
                    }, forMode: .default)
            }
            RunLoop.current.add(repeating, forMode: .default)
        }
    }

    static let timerRemoved = RunLoopScript(
        "A timer that is invalidated never fires, and blocks run"
    ) {
        perform, log, end in
        perform {
            let timer = Timer(timeInterval: 3600, repeats: false) { _ in
                log.withValue { $0.append("fired") }
            }
            RunLoop.current.add(timer, forMode: .default)
            timer.invalidate()
            log.withValue { $0.append("valid \(timer.isValid)") }
        }
        perform { log.withValue { $0.append("next") } }
        perform(end)
    }

    static let innerLoop = RunLoopScript(
        "A block that runs the run loop itself: its timers fire meanwhile"
    ) {
        perform, log, end in
        perform {
            let hasFired = Box(false)
            let timer = Timer(timeInterval: 0.001, repeats: false) { _ in
                log.withValue { $0.append("timer") }
                hasFired.value = true
            }
            RunLoop.current.add(timer, forMode: .default)
            // A timer that fires does not end the run, so the run has a deadline.
            while !hasFired.value {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
            }
            log.withValue { $0.append("block ends") }
            // Submitted only here: the platform would run an earlier block inside the run above.
            // The context does not, since its jobs run one at a time (law 2).
            perform {
                log.withValue { $0.append("next") }
                end()
            }
        }
    }

    static let dictionary = RunLoopScript("The thread's dictionary persists") { perform, log, end in
        perform { Thread.current.threadDictionary["beside"] = "kept" }
        perform {
            log.withValue { $0.append("\(Thread.current.threadDictionary["beside"] ?? "missing")") }
            end()
        }
    }
}

/// A minimal thread with a run loop.
private final class PlainRunLoopThread: @unchecked Sendable {
    // Unchecked: `loop` is set before `init` returns, and takes blocks from any thread.
    private var loop: CFRunLoop!

    init() {
        let isRunning = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            self.loop = CFRunLoopGetCurrent()
            let forever = Timer(fire: .distantFuture, interval: .infinity, repeats: false) { _ in }
            RunLoop.current.add(forever, forMode: .default)
            isRunning.signal()
            CFRunLoopRun()
        }
        isRunning.wait()
    }

    func perform(_ work: @escaping Work) {
        CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode, work)
        CFRunLoopWakeUp(loop)
    }

    func stop() { CFRunLoopStop(loop) }
}
