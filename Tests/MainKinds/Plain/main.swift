import AsyncFunctions
import Dispatch
import ExecutionContexts
import Foundation

// Programs without an async `main`: what the main thread does after the start is the argument.
// Each prints on which thread the main actor's closures run, and ends with exit code 0 when all
// have.

/// Prints which thread the main actor has here.
@MainActor func note(_ label: String) {
    MainActor.preconditionIsolated()
    MainContext().preconditionIsCurrent()
    precondition(MainContext().isCurrent == true)
    print("\(label): \(Thread.isMainThread ? "the main thread" : "another thread")")
}

/// Freed when the thread ends that has it as its value.
final class Last: Sendable {
    deinit {
        print(MainContext().isCurrent == true ? "on main" : "elsewhere")
        // Not from here: the thread sanitizer reports a program that ends inside of a deinit.
        async { exit(0) }
    }
}

func submitAll() {
    mainThread { note("from the main thread") }
    async {
        mainThread { note("from another thread") }
        async(delay: 0.001) {
            mainThread(delay: 0.001) {
                note("delayed")
                exit(0)
            }
        }
    }
}

print("the start: \(Thread.isMainThread ? "the main thread" : "another thread")")
switch CommandLine.arguments.dropFirst().first {
case "run-loop":
    submitAll()
    RunLoop.main.run()
case "dispatch-main":
    submitAll()
    dispatchMain()
case "waiting":
    // No thread serves the main queue while the main thread waits. The closure would end the
    // program with another exit code.
    mainThread { exit(1) }
    let waited = DispatchSemaphore(value: 0)
    async(delay: 0.05) { waited.signal() }
    waited.wait()
    print("nothing ran")
    exit(0)
case "ended-main":
    let local = ThreadLocalValue<Last> { _ in Last() }
    _ = local.value()
    // Where the system frees no values then.
    mainThread(delay: 5) {
        print("not freed")
        exit(0)
    }
    dispatchMain()
case "descriptor-limit":
    let waited = DispatchSemaphore(value: 0)
    if CommandLine.arguments.last == "begun" {
        async(delay: 0.001) { waited.signal() }
        waited.wait()
    }
    while dup(0) >= 0 {}
    let end: @Sendable () -> Void = {
        print("ran")
        exit(0)
    }
    switch CommandLine.arguments[2] {
    case "delay": PoolContext().schedule(after: .milliseconds(1)) { end() }
    default: GlobalContext().execute { end() }
    }
    waited.wait()
case "thread-limit":
    // No room for a stack is left.
    for _ in 0..<8_192
    where unsafe mmap(
        nil, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED
    {
        break
    }
    let late = ThreadContext(name: "late")
    late.execute {
        print("ran")
        exit(0)
    }
    DispatchSemaphore(value: 0).wait()
default:
    print("usage: MainKinds run-loop | dispatch-main | waiting")
    print("       MainKinds ended-main")
    print("       MainKinds descriptor-limit delay | job [begun]")
    print("       MainKinds thread-limit")
    exit(2)
}
// The run loop ended without running the closures.
exit(3)
