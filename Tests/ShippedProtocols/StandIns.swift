public import CPlatform
import ExecutionContextsTesting
internal import Synchronization

// What the shipped sources call, answered by the world of the schedule. The names are those of the
// library.

public typealias Work = @Sendable () -> Void
@usableFromInline typealias ThreadRecord = UnsafeMutablePointer<ec_thread>

@usableFromInline
enum Threads {
    @usableFromInline static var current: ThreadRecord { unsafe World.current.threads.record }
    @usableFromInline static var own: ThreadRecord { unsafe World.current.threads.record }
    static var records: Guarded<ThreadRecords> { _read { yield World.current.threads.records } }
}

/// The library asks for the simulation of a thread, and there is none: its own words are searched.
@usableFromInline
package enum SimulationHooks {
    static var current: NoSimulation? { nil }
    /// A forked child calls nothing before a trap.
    static var isForked: Bool { true }
    static func simulation(of thread: ThreadRecord) -> NoSimulation? { nil }
    static func now(_ thread: ThreadRecord) -> Int64 { World.current.now }
    static var now: Int64 { World.current.now }
    static func made(_ word: UnsafeRawPointer, _ name: @autoclosure () -> String) {}
    static func willPark(
        for word: UnsafeRawPointer, _ owner: UnsafeRawPointer, _ runner: @autoclosure () -> String
    ) {}
    @usableFromInline static func willTouch(_ word: UnsafeRawPointer) {}
    static func handedOver(_ owner: UnsafeRawPointer) {}
    static func lock(
        _ word: UnsafeRawPointer, try take: (UInt32) -> Bool, isOwned: (UInt32) -> Bool,
        wait: (UInt32) -> Void
    ) -> Bool { false }
}

/// A simulation of which there is none.
final class NoSimulation {
    func willTouch(_ word: UnsafeRawPointer) {}
    func willRead(_ word: UnsafeRawPointer) {}
    func willStep() {}
    func didLook() {}
    func willEnter(_ owner: UnsafeRawPointer, waits: Bool) {}
    func willSpin(_ word: UnsafeRawPointer) {}
    func park(until deadline: Int64) -> Bool { true }
    func unpark(_ thread: UInt32) -> Bool { false }
}

enum BlockingScope {
    enum Resumption { case whenThereIsRoom, atOnce }
    static func waiting(then resumption: Resumption, _ body: () -> Void) { body() }
}

/// No thread of the library, which parks until an instant of real time, is in a world.
enum MonotonicClock { static var nanoseconds: Int64 { World.current.now } }

/// A main thread does not spin on a single processor, so that a search has no steps for it.
enum Processors { static var count: Int { 1 } }

@usableFromInline
func ec_mode() -> UInt32 { World.current.isPortable ? UInt32(EC_MODE_PORTABLE) : 0 }
func ec_prepare() {}
func ec_barrier() { World.current.passBarrier() }
func ec_relax() { World.current.relax() }

func ec_wait(_ word: UnsafeRawPointer, _ expected: UInt32, _ deadline: Int64) {
    unsafe World.current.wait(on: word.assumingMemoryBound(to: Atomic<UInt32>.self), expected)
}
func ec_wake_one(_ word: UnsafeRawPointer) {
    unsafe World.current.wake(word.assumingMemoryBound(to: Atomic<UInt32>.self))
}

func ec_thread_parked(_ thread: ThreadRecord) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(World.current.threads.parked(thread))
}

func ec_thread_slot_blocks(_ thread: ThreadRecord) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(World.current.threads.blocks(thread))
}

// The words of a job in memory are two atomics.
func ec_words_load(_ cell: UnsafeMutablePointer<ec_words>) -> ec_words {
    let cell = World.current.cell(at: UInt(bitPattern: cell))
    return ec_words(
        first: cell.first.load(ordering: .relaxed), second: cell.second.load(ordering: .relaxed))
}

func ec_words_store(_ cell: UnsafeMutablePointer<ec_words>, _ words: ec_words) {
    let cell = World.current.cell(at: UInt(bitPattern: cell))
    cell.first.store(words.first, ordering: .relaxed)
    cell.second.store(words.second, ordering: .relaxed)
}

/// A job as two words, of which the second one shows whether both belong to one job.
package struct UnmanagedWork {
    package let words: ec_words
    package init(words: ec_words) { self.words = words }
    package init(_ work: @escaping Work) {
        let number = World.current.add(work)
        words = ec_words(first: number, second: ~number)
    }
    package func assembled() -> Work { World.current.job(words) }
}
