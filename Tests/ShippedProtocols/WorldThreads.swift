internal import CPlatform
import ExecutionContexts
import ExecutionContextsTesting

/// The records of the threads of a world, kept by what ships.
final class WorldThreads: @unchecked Sendable {
    // Unchecked, as the world is.

    /// In a class, since a lazy variable is copied.
    private final class Shipped { let records = Guarded(ThreadRecords()) }

    private var shipped: Shipped?
    private var own: [UInt32: ThreadRecord] = unsafe [:]
    /// By the number of a record, its words that are no words of C here.
    private var parked: [UInt32: UnsafeMutablePointer<Atomic<UInt32>>] = unsafe [:]
    private var blocks: [UInt32: ThreadSlots.Slot] = unsafe [:]
    /// The tasks as which threads run.
    private var tasks: [UInt32: UInt] = [:]
    private var numbers: UInt64 = 0

    func begin() { shipped = Shipped() }

    deinit {
        for pointer in unsafe parked.values { unsafe pointer.deallocate() }
        for pointer in unsafe blocks.values { unsafe pointer.deallocate() }
    }

    var records: Guarded<ThreadRecords> {
        _read { yield shipped!.records }
    }

    /// The record of the calling thread.
    var record: ThreadRecord {
        let number = ExecutionContexts.SimulationHooks.thread
        if let known = unsafe own[number] { return unsafe known }
        let record = unsafe records.withUnscheduledLock { unsafe $0.take() }
        unsafe own[number] = record
        // It does not spin, which would only make schedules longer.
        unsafe record.pointee.simulation = UnsafeMutableRawPointer(record)
        return unsafe record
    }

    /// Gives the record of the calling thread to the next thread, as at its end.
    func end() {
        let number = ExecutionContexts.SimulationHooks.thread
        guard let record = unsafe own.removeValue(forKey: number) else { return }
        unsafe record.pointee.owner_number = 0
        records.withUnscheduledLock { unsafe $0.giveBack(record) }
    }

    /// The calling thread ends, and its record stays as it is.
    func forget() {
        let number = ExecutionContexts.SimulationHooks.thread
        unsafe own[number] = nil
        tasks[number] = nil
    }

    /// The word on which the thread with this record parks.
    func parked(_ record: ThreadRecord) -> UnsafeMutablePointer<Atomic<UInt32>> {
        let number = unsafe record.pointee.identifier
        if let known = unsafe parked[number] { return unsafe known }
        let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        unsafe word.initialize(to: Atomic(known: 0))
        unsafe parked[number] = word
        return unsafe word
    }

    /// The word that leads to the further slots of the thread with this record.
    func blocks(_ record: ThreadRecord) -> ThreadSlots.Slot {
        let number = unsafe record.pointee.identifier
        if let known = unsafe blocks[number] { return unsafe known }
        let word = ThreadSlots.Slot.allocate(capacity: 1)
        unsafe word.initialize(to: Atomic(known: 0))
        unsafe blocks[number] = word
        return unsafe word
    }

    /// The task as which the calling thread runs, or nil.
    var task: UInt? {
        get { tasks[ExecutionContexts.SimulationHooks.thread] }
        set { tasks[ExecutionContexts.SimulationHooks.thread] = newValue }
    }

    func nextNumber() -> UInt64 {
        numbers += 1
        return numbers
    }
}
