import ExecutionContexts
import Foundation
import Measuring
import Synchronization

/// Runs the operations, waits until the process is idle, and prints the counts.
enum Report {
    /// The resources of the process: bytes of heap, threads, and live closures of jobs.
    private struct State {
        let bytes = allocatedBytes()
        let threads = threadCount()
        let jobs = Round.Job.alive.load(ordering: .relaxed)
    }

    /// Returns true if there was no fault.
    static func run(_ limits: Runner.Limits) -> Bool {
        let drivers = max(4, 2 * ProcessInfo.processInfo.activeProcessorCount)
        let runner = Runner(limits, drivers: drivers)
        // This warm-up excludes objects that are created once or kept from their first use on.
        runner.run(for: min(5, limits.seconds / 3))
        let before = settled(like: nil)
        let start = Date()
        runner.run(for: limits.seconds)
        let seconds = Date().timeIntervalSince(start)
        let after = settled(like: before)
        if after.jobs > 0 {
            Faults.shared.add(
                .leaked, "\(after.jobs) closures of jobs are alive after all jobs have ended")
        }
        let growth = after.bytes - before.bytes
        if growth > max(before.bytes / 2, 4 << 20) {
            Faults.shared.add(.leaked, "the heap has grown by \(growth / 1024) KB")
        }
        if after.threads > before.threads + 4 {
            Faults.shared.add(.leaked, "\(after.threads) threads are left of \(before.threads)")
        }
        write(runner, seconds, drivers, before, after)
        return Faults.shared.total == 0
    }

    /// Returns the state when it has stopped shrinking, or after half a minute.
    private static func settled(like goal: State?) -> State {
        var state = State()
        let pause = NSCondition()
        var steady = 0
        for _ in 0..<60 {
            pause.lock()
            _ = pause.wait(until: Date().addingTimeInterval(0.5))
            pause.unlock()
            let next = State()
            let isSteady =
                next.jobs == 0 && next.threads >= state.threads && next.bytes >= state.bytes
            steady = isSteady ? steady + 1 : 0
            state = next
            // The system keeps idle threads for some seconds.
            if steady >= 12 && next.threads <= (goal?.threads ?? .max) { break }
        }
        return state
    }

    private static func write(
        _ runner: Runner, _ seconds: Double, _ drivers: Int, _ before: State, _ after: State
    ) {
        print("| area | operations | rounds |\n|---|---:|---:|")
        let totals = runner.totals
        for area in Area.allCases {
            if let (operations, rounds) = totals[area] {
                print("| \(area.rawValue) | \(operations) | \(rounds) |")
            }
        }
        print("| all | \(runner.operations) | \(totals.values.reduce(0) { $0 + $1.rounds }) |\n")
        print("| what went wrong | count |\n|---|---:|")
        for kind in Faults.Kind.allCases {
            print("| \(kind.rawValue) | \(Faults.shared.count(kind)) |")
        }
        print("\n| | before | after |\n|---|---:|---:|")
        print("| heap in use | \(before.bytes / 1024) KB | \(after.bytes / 1024) KB |")
        print("| threads | \(before.threads) | \(after.threads) |")
        print("| closures of jobs | \(before.jobs) | \(after.jobs) |\n")
        let processors = ProcessInfo.processInfo.activeProcessorCount
        print("\(Int(seconds)) seconds, \(drivers) driving threads, \(processors) processors.")
        for text in Faults.shared.firstOnes { print("- \(text)") }
    }
}
