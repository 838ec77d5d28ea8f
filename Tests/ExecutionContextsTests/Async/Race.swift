import Foundation
import Synchronization

/// Runs each body on a thread of its own; for each of the worlds all of them begin at the same time.
///
/// Blocks the caller until all have been through all worlds.
func race<World: Sendable>(_ worlds: [World], _ bodies: [@Sendable (World) -> Void]) {
    let gates = worlds.map { _ in Gate() }
    let done = DispatchGroup()
    for body in bodies {
        done.enter()
        Thread.detachNewThread {
            for (world, gate) in zip(worlds, gates) {
                gate.pass(with: bodies.count)
                body(world)
            }
            done.leave()
        }
    }
    done.wait()
}

/// Where threads wait for each other.
private final class Gate: Sendable {
    private let arrived = Atomic<Int>(0)

    func pass(with count: Int) {
        // Sequentially consistent: nothing is gained by less. Spins first, so that those who arrive leave together.
        var looks = 0
        arrived.add(1, ordering: .sequentiallyConsistent)
        while arrived.load(ordering: .sequentiallyConsistent) < count {
            looks += 1
            if looks > 100 { sched_yield() }
        }
    }
}
