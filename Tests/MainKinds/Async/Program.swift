import AsyncFunctions
import Dispatch
import ExecutionContexts
import Foundation

/// A program with an async `main`.
///
/// It prints on which thread the main actor runs, and ends with exit code 0.
@main
struct Program {
    @MainActor static func main() async {
        note("the start")
        mainThread { note("from the main thread") }
        waitForOtherWork()
        print("nothing ran before the first suspension")
        await withCheckedContinuation { done in
            async {
                mainThread {
                    note("from another thread")
                    done.resume()
                }
            }
        }
        note("main after its first suspension")
        await withCheckedContinuation { done in
            mainThread(delay: 0.001) {
                note("delayed")
                done.resume()
            }
        }
    }

    /// Blocks the main thread for a while.
    @MainActor static func waitForOtherWork() {
        let waited = DispatchSemaphore(value: 0)
        async(delay: 0.05) { waited.signal() }
        waited.wait()
    }

    /// Prints which thread the main actor has here.
    @MainActor static func note(_ label: String) {
        MainActor.preconditionIsolated()
        MainContext().preconditionIsCurrent()
        precondition(MainContext().isCurrent == true)
        print("\(label): \(Thread.isMainThread ? "the main thread" : "another thread")")
    }
}
