import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Compares actors on contexts, and contexts on actors, with the platform's own: the same script
/// gives the same log.
@Suite(.patient)
struct ActorBesideTests {
    private static let subjects: [Subject] =
        (Subject.bases + Subject.views).filter { subject in
            let made = subject.make()
            return made.drive == nil && made.context is any ActorBackingContext
        }

    @Test(arguments: ActorScript.all, subjects)
    func `An actor behaves on a context as it does on a plain serial executor`(
        _ script: ActorScript, _ subject: Subject
    ) async throws {
        let context = try #require(subject.make().context as? any ActorBackingContext)
        let theirs = await script.log(of: Room(on: PlainSerialExecutor()))
        let ours = await script.log(of: Room(on: context))
        #expect(ours == theirs)
    }

    @Test(arguments: [true, false])
    func `A job of an actor's context runs between the actor's jobs, as a method call does`(
        _ isOurs: Bool
    )
        async throws
    {
        let room = Room(on: PlainSerialExecutor())
        let context = room.context
        // While the call is suspended, the actor runs other jobs, one at a time.
        let gate = Promise<Void>()
        let suspended = Task { await room.visit("guest", until: gate.async) }
        while await room.lines.isEmpty { await Task.yield() }
        for index in 0..<20 {
            let work: @Sendable () -> Void = { room.assumeIsolated { $0.note("work \(index)") } }
            if isOurs { try await context.run(work) } else { await room.perform(work) }
        }
        gate.succeed(())
        await suspended.value
        let expected = ["guest comes"] + (0..<20).map { "work \($0)" } + ["guest goes"]
        #expect(await room.lines == expected)
        #expect(await room.wasAlone)
    }
}

/// A program that uses an actor, and logs what the actor sees.
struct ActorScript: Sendable, CustomTestStringConvertible {
    let name: String
    private let body: @Sendable (_ room: Room) async -> Void

    var testDescription: String { name }

    init(_ name: String, _ body: @escaping @Sendable (Room) async -> Void) {
        self.name = name
        self.body = body
    }

    func log(of room: Room) async -> [String] {
        await body(room)
        return await room.lines + ["alone \(await room.wasAlone)"]
    }

    static let all = [inOrder, fromMany, reentrant, isolated, cancelled, children, nested]

    static let inOrder = ActorScript("Calls in order") { room in
        for index in 0..<50 { await room.note("\(index)") }
    }

    static let fromMany = ActorScript("Calls from many tasks") { room in
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { for _ in 0..<20 { await room.add() } } }
        }
        let count = await room.count
        await room.note("\(count)")
    }

    static let reentrant = ActorScript("A call while another one is suspended") { room in
        let gate = Promise<Void>()
        let visit = Task { await room.visit("first", until: gate.async) }
        while await room.lines.isEmpty { await Task.yield() }
        await room.note("second")
        gate.succeed(())
        await visit.value
    }

    static let isolated = ActorScript("Isolation is known inside") { room in
        await room.checkIsolation()
    }

    static let cancelled = ActorScript("A cancelled caller") { room in
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            await room.note("called though cancelled \(Task.isCancelled)")
        }
        task.cancel()
        await task.value
    }

    static let children = ActorScript("Child tasks") { room in await room.gather() }

    static let nested = ActorScript("A call to another actor and back") { room in
        let other = Room(on: PlainSerialExecutor())
        await room.call(other)
        let lines = await other.lines
        await room.note("other: \(lines)")
    }
}

/// An actor that logs what happens, and whether two jobs ran inside at a time.
actor Room {
    private let executor: any SerialExecutor
    private(set) var lines: [String] = []
    private(set) var count = 0
    private(set) var wasAlone = true
    private let occupants = Box(0)

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    init(on executor: any SerialExecutor) { self.executor = executor }

    private func inside(_ body: () -> Void) {
        if occupants.withValue({
            $0 += 1; return $0
        }) != 1 {
            wasAlone = false
        }
        body()
        occupants.withValue { $0 -= 1 }
    }

    func note(_ line: String) { inside { lines.append(line) } }
    func add() { inside { count += 1 } }
    func perform(_ work: @Sendable () -> Void) { work() }

    func visit(_ name: String, until gate: Async<Void>) async {
        note("\(name) comes")
        _ = try? await gate.get()
        note("\(name) goes")
    }

    func checkIsolation() {
        preconditionIsolated()
        assertIsolated()
        note("assumed \(assumeIsolated { $0.lines.count })")
    }

    func gather() async {
        async let one: Void = Task.yield()
        note("begun")
        await one
        let sum = await withTaskGroup(of: Int.self) { group in
            for index in 0..<10 { group.addTask { index } }
            return await group.reduce(0, +)
        }
        note("sum \(sum)")
    }

    func call(_ other: Room) async {
        note("calls")
        await other.note("called")
        note("is back")
    }
}

/// A minimal serial executor over a dispatch queue.
final class PlainSerialExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "plain")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Unsafe only if run twice; a queue runs a block once.
        queue.async { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
