internal import ExecutionContexts
internal import Synchronization

/// The names of the objects of one schedule, by their words; each name is unique.
struct Names {
    private var all: [Word: String] = [:]
    private var uses = Self.first

    /// The names of the objects that each schedule has from its beginning.
    static let (body, global, main) = ("the body", "global", "main")
    private static let first = [body: 1, global: 1, main: 1]

    mutating func add(_ word: Word, _ name: String) {
        all[word] = unique(name)
    }

    /// Adds a name that `unique` has returned.
    mutating func add(_ word: Word, unique name: String) { all[word] = name }

    /// The object at an address is gone; another one may have taken its place.
    mutating func forget(_ word: Word) { all[word] = nil }

    /// The name, with a number if it was used before.
    mutating func unique(_ name: String) -> String {
        let count = uses[name, default: 0] + 1
        uses[name] = count
        return count == 1 ? name : "\(name) \(count)"
    }

    func name(of word: Word) -> String? { all[word] }
}

/// The address of an atomic word, which identifies a lock or a coordinator while it lives.
struct Word: Hashable {
    private let address: UInt

    init(_ pointer: UnsafeRawPointer) { address = UInt(bitPattern: pointer) }

    /// An address in memory; nil for none.
    init?(address: UInt) {
        if address == 0 { return nil }
        self.address = address
    }

    static func + (word: Word, bytes: UInt) -> Word {
        Word(address: word.address + bytes) ?? word
    }

    var pointer: UnsafeRawPointer? { unsafe UnsafeRawPointer(bitPattern: address) }

    /// The address of an object, which identifies it in the same way.
    init(of object: AnyObject) { address = UInt(bitPattern: ObjectIdentifier(object)) }

    /// Whether the thread with this number reads, if this is the word of a coordinator.
    func isRead(by thread: UInt32) -> Bool { SimulationHooks.hasSlot(address, thread: thread) }

    /// The number of the thread that holds the lock, or zero, if this is the owner's word of a
    /// lock.
    ///
    /// Only for a lock that a thread is about to take, holds or waits for, and that is therefore
    /// alive.
    var holder: UInt32 {
        guard let pointer = unsafe UnsafePointer<Atomic<UInt32>>(bitPattern: address) else {
            return 0
        }
        // Relaxed: no other simulated thread runs.
        return unsafe pointer.pointee.load(ordering: .relaxed)
    }

    /// Stores zero in the word.
    func clear() {
        guard let pointer = unsafe UnsafeMutablePointer<Atomic<UInt32>>(bitPattern: address) else {
            return
        }
        // Relaxed: no thread uses the old value.
        unsafe pointer.pointee.store(0, ordering: .relaxed)
    }
}
