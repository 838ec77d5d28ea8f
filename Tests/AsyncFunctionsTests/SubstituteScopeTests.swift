import AsyncFunctions
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Law 12: which jobs and tasks substitutes apply to.
@MainActor
@Suite(.patient)
struct SubstituteScopeTests {
    // MARK: One substitute

    @Test(arguments: Way.allCases.filter(\.isMain))
    func `With the background replaced, main is real, and the jobs that it submits are substituted`(
        _ way: Way
    )
        async
    {
        await leavingNothing { context in
            let log = Log()
            await withAsyncFunctions(on: context) {
                await withCheckedContinuation { done in
                    way.submit {
                        log.add("main")
                        async { log.add("background") }
                        done.resume()
                    }
                }
                #expect(log.entries == ["main"])
                context.runReady()
            }
            #expect(log.entries == ["main", "background"])
        }
    }

    @Test(arguments: Way.allCases.filter { !$0.isMain })
    func `With main replaced, the background is real, and its jobs for main are substituted`(
        _ way: Way
    )
        async
    {
        await leavingNothing { context in
            let log = Log()
            await withAsyncFunctions(main: context) {
                await withCheckedContinuation { done in
                    way.submit {
                        log.add("background")
                        mainThread { log.add("main") }
                        done.resume()
                    }
                }
                #expect(log.entries == ["background"])
                context.runReady()
            }
            #expect(log.entries == ["background", "main"])
        }
    }

    // MARK: Nesting

    @Test(arguments: Way.allCases)
    func `An inner call replaces the contexts that it names, and no others`(_ way: Way) {
        leavingNothing { outer in
            leavingNothing { background in
                leavingNothing { main in
                    withAsyncFunctions(on: outer, main: outer) {
                        withAsyncFunctions(main: main) { way.submit {} }
                        withAsyncFunctions(on: background) { way.submit {} }
                        withAsyncFunctions { way.submit {} }
                    }
                    func count(_ context: ManualContext) -> Int {
                        context.readyCount + context.delayedCount
                    }
                    #expect(count(outer) == 2)
                    #expect(count(background) == (way.isMain ? 0 : 1))
                    #expect(count(main) == (way.isMain ? 1 : 0))
                    for context in [outer, background, main] { context.advance(by: .seconds(1)) }
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `A job keeps the substitutes under which it was submitted, on any thread`(_ way: Way) {
        leavingNothing { first in
            leavingNothing { second in
                let log = Log()
                withAsyncFunctions(on: first, main: first) {
                    way.submit { async { log.add("first") } }
                }
                withAsyncFunctions(on: second, main: second) {
                    first.advance(by: .milliseconds(1))
                    async { log.add("second") }
                }
                second.runReady()
                #expect(log.entries.last == "second")
                first.runReady()
                #expect(log.entries.contains("first"))
            }
        }
    }

    // MARK: Outside of the scope

    @Test func `After the call the functions use the real contexts again`() async {
        await leavingNothing { context in
            withAsyncFunctions(on: context, main: context) {}
            await untilFreed { end in async { mainThread { asyncBarrier { _ = end } } } }
        }
    }

    @Test
    func `After a throw the functions use the real contexts again, and the error keeps its type`()
        async
    {
        await leavingNothing { context in
            do throws(Trouble) {
                try withAsyncFunctions(on: context, main: context) { () throws(Trouble) in
                    throw Trouble()
                }
                Issue.record("It threw.")
            } catch {
                #expect(error == Trouble())
            }
            do throws(Trouble) {
                try await withAsyncFunctions(on: context, main: context) {
                    () async throws(Trouble) in
                    await Task.yield()
                    throw Trouble()
                }
                Issue.record("It threw.")
            } catch {
                #expect(error == Trouble())
            }
            await untilFreed { end in async { mainThread { _ = end } } }
        }
    }

    @Test func `The scope returns values, also those that are not Sendable`() async {
        await leavingNothing { context in
            let value = Unsendable()
            #expect(withAsyncFunctions(on: context) { value } === value)
            let awaited = await withAsyncFunctions(on: context) {
                await Task.yield()
                return value
            }
            #expect(awaited === value)
        }
    }

    @Test
    func `A job of the substitute that was submitted outside of the scope is not substituted`()
        async
    {
        await leavingNothing { context in
            await untilFreed { end in
                withAsyncFunctions(on: context, main: context) { async {} }
                // Real, though in the same queue: no substitute applied when it was submitted.
                context.execute { async { mainThread { _ = end } } }
                context.runReady()
            }
        }
    }

    @Test func `Law 12: concurrent tests do not see each other's substitutes`() async {
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { await testWithOwnSubstitutes() }
                group.addTask {
                    // A test without substitutes.
                    for _ in 0..<10 { await untilFreed { end in async { mainThread { _ = end } } } }
                }
            }
        }
    }

    @Test func `Child tasks and unstructured tasks have the substitutes, detached tasks do not`()
        async
    {
        await leavingNothing { context in
            let log = Log()
            await withAsyncFunctions(on: context, main: context) {
                async let child: Void = { async { log.add("child") } }()
                await child
                await Task { async { log.add("task") } }.value
                #expect(context.readyCount == 2)
                await untilFreed { end in Task.detached { async { mainThread { _ = end } } } }
                #expect(context.readyCount == 2)
            }
            context.runReady()
            #expect(log.entries == ["child", "task"])
        }
    }

    @Test func `An actor may open a scope, too, and stays isolated in it`() async {
        await leavingNothing { context in
            let host = Host()
            await host.visit(context)
            context.runReady()
            #expect(await host.visits == 2)
        }
    }
}

private struct Trouble: Error, Equatable {}

private final class Unsendable {}

private actor Host {
    private(set) var visits = 0

    func visit(_ context: ManualContext) async {
        withAsyncFunctions(on: context) {
            visits += 1
            async {}
        }
        await withAsyncFunctions(on: context) {
            await Task.yield()
            visits += 1
            async {}
        }
        #expect(context.readyCount == 2)
    }
}

/// The body of a test that runs beside other tests.
@MainActor private func testWithOwnSubstitutes() async {
    await leavingNothing { context in
        let log = Log()
        await withAsyncFunctions(on: context, main: context) {
            for round in 0..<50 {
                async { mainThread { log.add("\(round)") } }
                await Task.yield()
                context.runReady()
                #expect(log.entries.count == round + 1)
            }
        }
    }
}
