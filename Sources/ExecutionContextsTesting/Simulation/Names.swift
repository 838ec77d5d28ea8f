internal import ExecutionContexts
internal import Synchronization

/// What people call the things of one schedule, by their words: unlike things have unlike names.
struct Names {
    private var all: [Word: String] = [:]
    private var uses: [String: Int] = [:]

    mutating func add(_ word: Word, _ name: String) {
        all[word] = unique(name)
    }

    /// The name, with a number where it was used before.
    mutating func unique(_ name: String) -> String {
        let count = uses[name, default: 0] + 1
        uses[name] = count
        return count == 1 ? name : "\(name) \(count)"
    }

    func name(of word: Word) -> String? { all[word] }
}

/// The address of a word that threads change, by which a lock or a coordinator is known while it lives.
struct Word: Hashable {
    private let address: UInt

    init(_ pointer: UnsafeRawPointer) { address = UInt(bitPattern: pointer) }

    /// Whether the thread of this number reads there, if it is the word of a coordinator.
    func isRead(by thread: UInt32) -> Bool { Seam.isReading(address, thread: thread) }

    /// What stands there, if it is the owner's word of a lock: the number of the thread that holds it, or zero.
    ///
    /// Only of a lock that somebody is about to take, holds or waits for, and which so is alive.
    var holder: UInt32 {
        guard let pointer = unsafe UnsafePointer<Atomic<UInt32>>(bitPattern: address) else { return 0 }
        // Relaxed: nobody else runs.
        return unsafe pointer.pointee.load(ordering: .relaxed)
    }

    /// Puts a zero there.
    func clear() {
        guard let pointer = unsafe UnsafeMutablePointer<Atomic<UInt32>>(bitPattern: address) else { return }
        // Relaxed: what was there means nothing to anybody.
        unsafe pointer.pointee.store(0, ordering: .relaxed)
    }
}
