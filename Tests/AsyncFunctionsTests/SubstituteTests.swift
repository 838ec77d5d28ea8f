import AsyncFunctions
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Tests as a user writes them for code that calls the functions.
@MainActor
@Suite(.patient)
struct SubstituteTests {
    @Test func `A search starts after a pause in typing, and shows its results on main`() {
        leavingNothing { context in
            withAsyncFunctions(on: context, main: context) {
                let search = Search()
                search.type("sw")
                context.advance(by: .milliseconds(200))
                search.type("swift")
                context.advance(by: .milliseconds(299))
                #expect(search.found.isEmpty)
                context.advance(by: .milliseconds(1))
                #expect(search.found == ["what swift finds"])
            }
        }
    }

    @Test func `A test that awaits decides when its jobs run`() async {
        await leavingNothing { context in
            let search = Search()
            await withAsyncFunctions(on: context, main: context) {
                search.type("swift")
                await Task.yield()
                MainActor.preconditionIsolated()
                context.advance(by: .milliseconds(300))
                await Task.yield()
            }
            #expect(search.found == ["what swift finds"])
        }
    }

    @Test(arguments: Way.allCases, Way.allCases)
    func `Law 12: the jobs that a job submits are substituted, too`(_ outer: Way, _ inner: Way) {
        leavingNothing { context in
            let log = Log()
            withAsyncFunctions(on: context, main: context) {
                outer.submit {
                    log.add("outer")
                    inner.submit {
                        log.add("inner")
                        outer.submit { log.add("innermost") }
                    }
                }
            }
            // The substitutes are bound to the job, not to its runner: the call has returned.
            // A real context would not have run the inner jobs by now.
            context.advance(by: .milliseconds(3))
            #expect(log.entries == ["outer", "inner", "innermost"])
        }
    }

    @Test(arguments: Way.allCases)
    func `Each function submits to the substitute of its own context`(_ way: Way) {
        leavingNothing { background in
            leavingNothing { main in
                let log = Log()
                withAsyncFunctions(on: background, main: main) { way.submit { log.add("ran") } }
                let (right, wrong) = way.isMain ? (main, background) : (background, main)
                wrong.advance(by: .seconds(1))
                #expect(log.entries.isEmpty)
                right.advance(by: .seconds(1))
                #expect(log.entries == ["ran"])
            }
        }
    }

    @Test(arguments: Way.delayed)
    func `Law 7: delays on a manual context are virtual, exact and ordered`(_ way: Way) {
        leavingNothing { context in
            let log = Log()
            withAsyncFunctions(on: context, main: context) {
                for hours in [3, 1, 2, 1] {
                    way.submit(milliseconds: hours * 3_600_000) { log.add("\(hours)") }
                }
            }
            context.advance(by: .seconds(3_600) - .nanoseconds(1))
            #expect(log.entries.isEmpty)
            context.advance(by: .nanoseconds(1))
            #expect(log.entries == ["1", "1"])
            context.advance(by: .seconds(7_200))
            #expect(log.entries == ["1", "1", "2", "3"])
        }
    }

    @Test(arguments: Way.delayed)
    func `Law 7: a cancelled delayed job leaves its substitute at once`(_ way: Way) throws {
        try leavingNothing { context in
            let delay = try withAsyncFunctions(on: context, main: context) {
                try #require(way.submit { Issue.record("It was cancelled.") })
            }
            #expect(context.delayedCount == 1)
            #expect(delay.cancel())
            #expect(!delay.cancel())
            #expect(context.delayedCount == 0)
            context.advance(by: .seconds(1))
        }
    }

    @Test(arguments: Way.inSeconds, [-Double.infinity, -1, 0])
    func `Law 7: a job with a zero or negative delay runs before time advances`(
        _ way: Way, _ seconds: Double
    ) {
        leavingNothing { context in
            let log = Log()
            withAsyncFunctions(on: context, main: context) {
                way.submit(seconds: seconds) { log.add("ran") }
            }
            context.advance(by: .zero)
            #expect(log.entries == ["ran"])
        }
    }

    @Test(arguments: Way.inSeconds)
    func `Law 7: a substitute does not keep a job whose delay never ends`(_ way: Way) {
        leavingNothing { context in
            withAsyncFunctions(on: context, main: context) {
                way.submit(seconds: .infinity) { [context] in
                    Issue.record("It came on \(context.name).")
                }
                way.submit(after: .seconds(Int64.max)) { [context] in
                    Issue.record("It came on \(context.name).")
                }
            }
            #expect(context.delayedCount == 0)
        }
    }

    @Test func `Law 3: only asyncBarrier submits barriers`() {
        let log = Log()
        let logging = LoggingContext(log: log)
        for way in Way.allCases {
            withAsyncFunctions(on: logging, main: ManualContext()) { way.submit {} }
        }
        #expect(log.entries.filter { $0 == "barrier" }.count == 1)
        withAsyncFunctions(on: logging) { asyncBarrier {} }
        #expect(log.entries.last == "barrier")
    }

    @Test func `A failing context reports each submission`() {
        let log = Log()
        let failing = FailingContext(name: "failing") { log.add($0) }
        withAsyncFunctions(on: failing, main: failing) {
            #expect(log.entries.isEmpty)
            for way in [Way.async, .asyncBarrier, .mainThread] { way.submit {} }
        }
        #expect(log.entries.count == 3)
        #expect(log.entries.allSatisfy { $0.contains("'failing'") })
    }

    @Test(arguments: Way.allCases.filter { !Way.delayed.contains($0) })
    func `On contexts that run on the caller the job has run when the call returns`(_ way: Way) {
        let log = Log()
        let inline = ImmediateContext().serial()
        withAsyncFunctions(on: inline, main: inline) { way.submit { log.add("ran") } }
        #expect(log.entries == ["ran"])
    }

    @Test func `Substitutes can be written in the short form of any context`() async {
        await untilFreed { end in
            withAsyncFunctions(on: .barrier(named: "background"), main: .main) {
                async { mainThread { _ = end } }
            }
        }
    }
}

/// Logs the kind of each submission, and runs no job.
private struct LoggingContext: BarrierContext {
    let log: Log
    func execute(_ work: @escaping Work) { log.add("plain") }
    func executeBarrier(_ work: @escaping Work) { log.add("barrier") }
}

/// Code under test: it searches when nothing has been typed for 0.3 seconds.
@MainActor private final class Search {
    private(set) var found: [String] = []
    private var pending: DelayedWork?

    func type(_ text: String) {
        pending?.cancel()
        pending = async(delay: 0.3) {
            let answer = "what \(text) finds"
            mainThread { self.found.append(answer) }
        }
    }
}
