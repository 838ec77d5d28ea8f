import AsyncFunctions
import ExecutionContexts
import TestSupport
import Testing

/// Main in a process of Swift Testing.
@Suite(.patient)
struct MainThreadTests {
    @Test(arguments: Way.allCases.filter(\.isMain))
    func `Law 4: mainThread runs its closures on the main actor`(_ way: Way) async {
        await untilFreed { end in
            way.submit {
                MainActor.preconditionIsolated()
                #expect(MainContext().isCurrent == true)
                _ = end
            }
        }
    }

    @Test func `Closures given to mainThread use state that is isolated to the main actor`() async {
        let screen = Screen()
        await untilFreed { end in
            mainThread { screen.changes.append("now") }
            mainThread(delay: 0) { screen.changes.append("after seconds") }
            mainThread(delay: .zero) {
                screen.changes.append("after a duration")
                _ = end
            }
        }
        #expect(await screen.changes == ["now", "after seconds", "after a duration"])
    }

    @Test func `Law 2: main runs one job at a time, in the order of submission`() async {
        let screen = Screen()
        await untilFreed { end in
            for index in 0..<200 { mainThread { screen.changes.append("\(index)") } }
            mainThread { _ = end }
        }
        #expect(await screen.changes == (0..<200).map(String.init))
    }

    @Test func `Law 7: delayed jobs of main run in the order of deadline and submission`() async {
        let screen = Screen()
        await untilFreed { end in
            for index in 0..<200 { mainThread(delay: 0) { screen.changes.append("\(index)") } }
            mainThread(delay: 0) { _ = end }
        }
        #expect(await screen.changes == (0..<200).map(String.init))
    }

    @Test @MainActor func `mainThread never runs its closure before it returns`() async {
        let log = Log()
        await untilFreed { end in
            mainThread {
                log.add("ran")
                _ = end
            }
            log.add("returned")
        }
        #expect(log.entries == ["returned", "ran"])
    }

    @Test func `A barrier does not block main`() async {
        await untilFreed { end in
            asyncBarrier {
                // If main had to wait for the barrier, this would deadlock.
                MainContext().sync { mainThread { _ = end } }
            }
        }
    }
}

/// State that only the main actor may change.
@MainActor private final class Screen {
    var changes: [String] = []
}
