internal import CPlatform
internal import Synchronization

// What the shipped sources ask of the system, answered by the simulated machine. The names are
// those of the library.

/// The process has barriers for all threads, and no thread is under the library's simulator.
@usableFromInline func ec_mode() -> UInt32 { 0 }
func ec_mode_set(_ mode: UInt32, _ isOn: Bool) {}
func ec_prepare() {}
func ec_barrier() { unsafe Machine.current.passBarrier() }
@usableFromInline func ec_compiler_fence() {}
func ec_relax() { unsafe Machine.current.spend(Cost.relax) }
func ec_now() -> Int64 { unsafe Machine.current.now }

// Every operation of the machine is in one order with all others.
func atomicMemoryFence(ordering: AtomicUpdateOrdering) { unsafe Machine.current.spend(Cost.fence) }

func ec_wait(_ word: UnsafeRawPointer, _ expected: UInt32, _ deadline: Int64) {
    unsafe Machine.current.wait(on: word, expected, until: deadline)
}
func ec_wake_one(_ word: UnsafeRawPointer) { unsafe Machine.current.wake(word) }

// MARK: Threads

func ec_thread_start(
    _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ argument: UnsafeMutableRawPointer?
) -> Bool {
    let argument = UInt(bitPattern: argument)
    unsafe Machine.current.start { _ = unsafe body(UnsafeMutableRawPointer(bitPattern: argument)) }
    return true
}

func ec_thread_configure(_ name: UnsafePointer<CChar>, _ quality: UInt32) {}
func ec_thread_recall() -> UnsafeMutablePointer<ec_thread>? { nil }

/// The thread gives its record back when its body has ended, while it is still the one that runs.
func ec_thread_attach(
    _ thread: UnsafeMutablePointer<ec_thread>,
    _ ended: @escaping @convention(c) (UnsafeMutablePointer<ec_thread>) -> Void
) {
    unsafe ec_thread_set(thread)
    if unsafe ec_caller() == nil { unsafe ec_caller_set(thread) }
    unsafe Machine.current.nameRecord(UInt(bitPattern: thread))
    let thread = UInt(bitPattern: thread)
    unsafe Machine.current.atEnd {
        guard let thread = unsafe UnsafeMutablePointer<ec_thread>(bitPattern: thread) else {
            return
        }
        unsafe ended(thread)
    }
}

func ec_thread_handle() -> Int64 { unsafe Machine.current.number }

/// Each thread has a processor of its own, so one that does not wait is awake.
func ec_thread_activity(_ thread: Int64) -> ec_activity {
    unsafe Machine.current.isAsleep(thread) ? ec_activity_asleep : ec_activity_awake
}

func ec_thread_time(_ thread: Int64) -> Int64 { unsafe Machine.current.busyTime(of: thread) }

// MARK: Jobs in a ring

func ec_words_load(_ cell: UnsafeMutablePointer<ec_words>) -> ec_words {
    unsafe Machine.current.access(UInt(bitPattern: cell), .read, .ring)
    return unsafe cell.pointee
}

func ec_words_store(_ cell: UnsafeMutablePointer<ec_words>, _ words: ec_words) {
    unsafe Machine.current.access(UInt(bitPattern: cell), .write, .ring)
    unsafe cell.pointee = words
}
