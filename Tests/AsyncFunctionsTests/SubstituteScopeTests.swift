import AsyncFunctions
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Law 12: for whom substitutes hold, and for whom they do not.
@MainActor
@Suite(.timeLimit(.minutes(30)))
struct SubstituteScopeTests {
    // MARK: One of the two

    @Test(arguments: Way.allCases.filter(\.isMain))
    func `With the background replaced, main is main, and what its closures submit is replaced`(_ way: Way)
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
    func `With main replaced, the background is real, and what its work gives to main is replaced`(_ way: Way)
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
    func `An inner call replaces what it names, and leaves the rest`(_ way: Way) {
        leavingNothing { outer in
            leavingNothing { background in
                leavingNothing { main in
                    withAsyncFunctions(on: outer, main: outer) {
                        withAsyncFunctions(main: main) { way.submit {} }
                        withAsyncFunctions(on: background) { way.submit {} }
                        withAsyncFunctions { way.submit {} }
                    }
                    func count(_ context: ManualContext) -> Int { context.readyCount + context.delayedCount }
                    #expect(count(outer) == 2)
                    #expect(count(background) == (way.isMain ? 0 : 1))
                    #expect(count(main) == (way.isMain ? 1 : 0))
                    for context in [outer, background, main] { context.advance(by: .seconds(1)) }
                }
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `Work keeps the substitutes under which it was submitted, whoever runs it`(_ way: Way) {
        leavingNothing { first in
            leavingNothing { second in
                let log = Log()
                withAsyncFunctions(on: first, main: first) { way.submit { async { log.add("first") } } }
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

    // MARK: Others

    @Test func `After the call the functions are the real ones again`() async {
        await leavingNothing { context in
            withAsyncFunctions(on: context, main: context) {}
            await untilFreed { end in async { mainThread { asyncBarrier { _ = end } } } }
        }
    }

    @Test func `After a throw the functions are the real ones again, and the error's type is kept`() async {
        await leavingNothing { context in
            do throws(Trouble) {
                try withAsyncFunctions(on: context, main: context) { () throws(Trouble) in throw Trouble() }
                Issue.record("It threw.")
            } catch {
                #expect(error == Trouble())
            }
            do throws(Trouble) {
                try await withAsyncFunctions(on: context, main: context) { () async throws(Trouble) in
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

    @Test func `Values come through, also those that cannot be sent`() async {
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

    @Test func `Work of the substitute that was not submitted under it is not touched`() async {
        await leavingNothing { context in
            await untilFreed { end in
                withAsyncFunctions(on: context, main: context) { async {} }
                // Real, though it stands in the same line: nothing was replaced when it was submitted.
                context.execute { async { mainThread { _ = end } } }
                context.runReady()
            }
        }
    }

    @Test func `Law 12: two tests at the same time do not see each other's substitutes`() async {
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { await testWithItsOwn() }
                group.addTask {
                    // Without any.
                    for _ in 0..<10 { await untilFreed { end in async { mainThread { _ = end } } } }
                }
            }
        }
    }

    @Test func `Child tasks and unstructured ones have the substitutes, detached ones do not`() async {
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

    @Test func `An actor may replace them, too, and stays isolated`() async {
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

/// What a test does that others run beside.
@MainActor private func testWithItsOwn() async {
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
