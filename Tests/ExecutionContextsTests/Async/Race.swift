import Foundation
import Synchronization

/// Runs each body on a thread of its own, once for each world; for a world all begin together.
///
/// Blocks the calling thread until each body has run for each world.
func race<World: Sendable>(_ worlds: [World], _ bodies: [@Sendable (World) -> Void]) {
    let barriers = worlds.map { _ in SpinBarrier() }
    let done = DispatchGroup()
    for body in bodies {
        done.enter()
        Thread.detachNewThread {
            for (world, barrier) in zip(worlds, barriers) {
                barrier.arriveAndWait(for: bodies.count)
                body(world)
            }
            done.leave()
        }
    }
    done.wait()
}

/// A barrier at which threads wait until all of them have arrived.
private final class SpinBarrier: Sendable {
    private let arrived = Atomic<Int>(0)

    func arriveAndWait(for count: Int) {
        // Sequentially consistent: a weaker order gains nothing. It spins first, so that the
        // threads leave together.
        var spins = 0
        arrived.add(1, ordering: .sequentiallyConsistent)
        while arrived.load(ordering: .sequentiallyConsistent) < count {
            spins += 1
            if spins > 100 { sched_yield() }
        }
    }
}
