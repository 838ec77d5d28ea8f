internal import CPlatform
internal import Synchronization

/// A thread of a simulated machine, and the thread of the system that runs its steps.
final class SimulatedThread: @unchecked Sendable {
    // Unchecked: it belongs to the machine, which runs one thread at a time.
    let number: Int
    /// The time of its last step.
    var clock: Int64
    /// Called on the thread when its body has ended.
    var ending: () -> Void = {}
    /// The address of the word on which it sleeps, or zero.
    private(set) var word: UInt = 0
    private var body: (@Sendable () -> Void)?
    private var deadline = Int64.max
    private(set) var hasEnded = false
    private var asleepFor: Int64 = 0
    private let token = SchedulerWord()

    init(number: Int, clock: Int64) { (self.number, self.clock) = (number, clock) }

    /// When it can take its next step.
    var time: Int64 { hasEnded ? .max : word == 0 ? clock : deadline }

    /// The time for which it has been awake.
    var busyTime: Int64 { clock - asleepFor }

    func park(on word: UInt, until deadline: Int64) {
        (self.word, self.deadline) = (word, max(deadline, clock))
    }

    func wake(at time: Int64) {
        asleepFor += max(time - clock, 0)
        (word, clock) = (0, max(clock, time))
    }

    /// It is about to take its next step: a sleep without a wake-up has lasted its time.
    func begin() { if word != 0 { wake(at: deadline) } }

    func resume() { token.pass() }
    func pause() { token.wait() }

    /// Starts the thread of the system, which waits until it is resumed.
    ///
    /// `ended` is called last, when the body has been freed.
    func start(_ body: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void) {
        self.body = body
        let body = unsafe Unmanaged.passRetained(
            Body { [self] in
                token.wait()
                self.body.take()?()
                ending()
                ending = {}
                hasEnded = true
                ended()
            })
        let hasStarted = unsafe CPlatform.ec_thread_start(
            { argument in
                // One thread runs at a time, and is found sooner on the same processor.
                SimulatedThread.pinToFirstProcessor()
                let body = unsafe Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped)
                unsafe body.takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        precondition(hasStarted, "The system has no thread for the simulated machine.")
    }

    /// Leaves the calling thread the first of the processors that it may run on.
    private static func pinToFirstProcessor() {
        var allowed = [UInt](repeating: 0, count: 16)
        let size = allowed.count * MemoryLayout<UInt>.size
        guard unsafe affinity(0, size, &allowed) == 0,
            let first = allowed.firstIndex(where: { $0 != 0 })
        else { return }
        var chosen = [UInt](repeating: 0, count: allowed.count)
        chosen[first] = allowed[first] & (~allowed[first] &+ 1)
        _ = unsafe setAffinity(0, size, chosen)
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// A word on which one thread of the system waits for another one.
final class SchedulerWord: Sendable {
    private let word = Synchronization.Atomic<UInt32>(0)

    // Releasing and acquiring: the thread that goes on sees what this one did.
    func pass() {
        word.store(1, ordering: .releasing)
        unsafe withUnsafePointer(to: word) { unsafe CPlatform.ec_wake_one($0) }
    }

    func wait() {
        while word.load(ordering: .acquiring) == 0 {
            unsafe withUnsafePointer(to: word) { unsafe CPlatform.ec_wait($0, 0, .max) }
        }
        // Relaxed: the next pass comes only after this thread has handed the machine on.
        word.store(0, ordering: .relaxed)
    }
}

// Glibc declares them in a mode that its Swift module does not have.
@_silgen_name("sched_getaffinity")
private func affinity(
    _ thread: Int32, _ size: Int, _ processors: UnsafeMutablePointer<UInt>
) -> Int32
@_silgen_name("sched_setaffinity")
private func setAffinity(
    _ thread: Int32, _ size: Int, _ processors: UnsafePointer<UInt>
) -> Int32
