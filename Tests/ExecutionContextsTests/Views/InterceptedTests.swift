import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Each job of an intercepted view runs inside of the interceptor, once.
@Suite(.patient)
struct InterceptedTests {
    @TaskLocal private static var span = "none"

    private static let traced: @Sendable (_ job: () -> Void) -> Void = { job in
        $span.withValue("span") { job() }
    }

    @Test func `What the interceptor makes current is current in each kind of job`() async throws {
        let queue = SerialQueueContext(name: "queue")
        let view = queue.intercepted(by: Self.traced)
        #expect(try await view.run { Self.span } == "span")
        #expect(try await view.submit { Self.span }.get() == "span")
        let seen = Promise<String>()
        view.executeBarrier { seen.succeed(Self.span) }
        #expect(try await seen.async.get() == "span")
        let delayed = Promise<String>()
        view.schedule(after: .zero) { delayed.succeed(Self.span) }
        #expect(try await delayed.async.get() == "span")
        #expect(try await queue.run { Self.span } == "none")
    }

    @Test func `The bodies of sync and syncBarrier run inside of the interceptor`() throws {
        struct Oops: Error {}
        let base: some SynchronousBarrierContext = BarrierQueueContext(name: "barriers")
        let view = base.intercepted(by: Self.traced)
        #expect(view.sync { Self.span } == "span")
        #expect(view.syncBarrier { Self.span } == "span")
        #expect(throws: Oops.self) { try view.sync { throw Oops() } }
        view.hold().release()
        let serial = GlobalContext().serial().intercepted(by: Self.traced)
        #expect(serial.sync { Self.span } == "span")
    }

    @Test func `Law 6: an inline job runs inside of the interceptor`() async throws {
        let queue = SerialQueueContext(name: "queue")
        let view = queue.intercepted(by: Self.traced).inlineIfCurrent()
        let seen = try await queue.run {
            let seen = Box("")
            view.execute { seen.value = Self.span }
            return seen.value
        }
        #expect(seen == "span")
    }

    @Test(arguments: 0...3)
    func `Law 1: a job runs once, however often the interceptor calls it`(_ calls: Int) throws {
        let manual = ManualContext()
        let log = Box<[String]>([])
        let view = manual.intercepted { job in
            for _ in 0..<calls { job() }
            log.withValue { $0.append("left") }
        }
        view.execute { log.withValue { $0.append("ran") } }
        manual.runReady()
        #expect(log.value == (calls == 0 ? ["left", "ran"] : ["ran", "left"]))
        let answer = view.submit { "answer" }
        manual.runReady()
        #expect(try answer.wait() == "answer")
    }

    @Test func `Law 1: under every schedule one of two calls runs the job`() async {
        await underEverySchedule("intercepted view") { sim, onlooker in
            let view = sim.global.intercepted { job in
                withoutActuallyEscaping(job) { job in
                    nonisolated(unsafe) let job = job  // The caller waits for its last use.
                    let other = sim.global.submit { unsafe job() }
                    unsafe job()
                    _ = try? other.wait()
                }
                onlooker.expect(onlooker.count("job") == 1, "the interceptor left before the job")
            }
            sim.spawn("submitter") { view.execute { onlooker.visit("job") } }
            sim.finally("once") { onlooker.log == ["job"] }
        }
    }

    @Test func `Law 10: the captures of a job are freed before the next job runs`() {
        let manual = ManualContext()
        let view = manual.intercepted { $0() }
        let freed = Box(false)
        let seen = Box(false)
        func submit() {
            let token = Token(freed)
            view.execute { withExtendedLifetime(token) {} }
        }
        submit()
        view.execute { seen.value = freed.value }
        manual.runReady()
        #expect(seen.value)
    }

    @Test func `Law 8: interceptors nest in the order of the views`() {
        let log = Box<[String]>([])
        let manual = ManualContext()
        let view = manual.intercepted { job in
            log.withValue { $0.append("base's") }
            job()
        }.serial().intercepted { job in
            log.withValue { $0.append("view's") }
            job()
        }
        view.execute { log.withValue { $0.append("job") } }
        view.execute { log.withValue { $0.append("job") } }
        manual.runReady()
        // One drain of the serial view is one job of its base.
        #expect(log.value == ["base's", "view's", "job", "view's", "job"])
    }

    @Test func `Law 13: actors over an intercepted view run each part inside of it`() async {
        let count = Box(0)
        let base: some ActorBackingContext = SerialQueueContext(name: "queue")
        let view = base.intercepted { job in
            count.withValue { $0 += 1 }
            job()
        }
        let lodger = Lodger(view)
        #expect(await lodger.stay() == 1)
        #expect(count.value >= 1)
    }
}

private final class Token: Sendable {
    private let freed: Box<Bool>
    init(_ freed: Box<Bool>) { self.freed = freed }
    deinit { freed.value = true }
}

private actor Lodger {
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    private var stays = 0
    init(_ executor: any SerialExecutor) { self.executor = executor }

    /// Changes something, or an optimized build would not come here for it.
    func stay() -> Int {
        stays += 1
        return stays
    }
}
