import ExecutionContexts
import ExecutionContextsTesting

/// The atomics of a world, by their numbers.
///
/// The first value of an atomic is a plain write: a thread that uses it must know of it. Atomics
/// that a thread makes one after the other are one plain variable.
final class Atomics {
    private var all: [(values: AnyObject, batch: Batch?)] = []
    /// What each thread has made since its last operation.
    private var open: [UInt32: Batch] = [:]
    /// The thread that builds the program. What it makes, all others know.
    private let builder = ExecutionContexts.SimulationHooks.thread

    private final class Batch {
        let made = Shared(0, name: "new atomics")
        var known: Set<UInt32> = []
    }

    /// Adds an atomic and returns its number.
    func add(_ values: AnyObject) -> UInt {
        let own = ExecutionContexts.SimulationHooks.thread
        let number = UInt(all.count)
        guard own != builder else {
            all.append((values, nil))
            return number
        }
        let batch = open[own] ?? Batch()
        all.append((values, batch))
        if batch.known.insert(own).inserted {
            open[own] = batch
            // A scheduling point. No other thread has the number yet.
            batch.made.value = 1
        }
        return number
    }

    /// Adds an atomic of which all threads know.
    func addKnown(_ values: AnyObject) -> UInt {
        all.append((values, nil))
        return UInt(all.count - 1)
    }

    func use(_ number: UInt) -> AnyObject {
        let own = ExecutionContexts.SimulationHooks.thread
        let (values, batch) = all[Int(number)]
        if !open.isEmpty { open[own] = nil }
        if let batch, batch.known.insert(own).inserted { _ = batch.made.value }
        return values
    }
}
