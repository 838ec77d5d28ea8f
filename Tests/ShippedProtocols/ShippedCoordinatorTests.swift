import ExecutionContextsTesting
import TestSupport
import Testing

/// The shipped coordinator, under the memory that Swift promises.
///
/// In the suite of the other protocols, whose tests run one after the other: one world is present.
extension ShippedProtocolTests {
    @Test(arguments: CoordinatorPrograms.all)
    func `Laws 16, 17, 18, 28: what ships keeps readers and writers apart and loses none`(
        program: Program
    ) {
        World.weakening = nil
        let report = program.search(schedules: rounds(debug: 12, release: 120))
        #expect(report.failure == nil, "\(report)")
    }

    /// For each order of the coordinator, by the line that has it, a program that needs it.
    private static let needs: [String: String] = [
        "unsafe ReadWriteWord(word.pointee.load(ordering: .sequentiallyConsistent))":
            "an enqueued write that its thread reads and may run, portable",
        "let (isDone, current) = unsafe word.pointee.compareExchange(":
            "an enqueued write that its thread reads and may run, portable",
        "let now = unsafe word.pointee.wrappingSubtract(": "two readers and two writers",
        "let then = unsafe ReadWriteWord(admission.word.pointee.load(ordering: .acquiring))":
            "a slot reader after a writer",
        "unsafe word.pointee.store(value, ordering: .releasing)": "a slot reader and a writer",
        "_ = unsafe word.pointee.exchange(value, ordering: .sequentiallyConsistent)":
            "a slot reader and a writer, portable",
        "unsafe slot.pointee.store(announcement | 1, ordering: .releasing)":
            "reads of two coordinators in one slot, portable",
        "unsafe ReaderSlots.top(thread).pointee.store(0, ordering: .releasing)":
            "reads of two coordinators in one slot, portable",
        "if unsafe inlineSlot(thread, index).pointee.load(ordering: .sequentiallyConsistent)":
            "a slot reader and a writer, portable",
        "var block = unsafe firstBlock(thread).pointee.load(ordering: .sequentiallyConsistent)":
            "a read in the first block of further slots, portable",
        "if unsafe slots[index].load(ordering: .sequentiallyConsistent) == word {":
            "a read in the first block of further slots, portable",
        "block = unsafe slots[0].load(ordering: .sequentiallyConsistent)":
            "a read in the second block of further slots, portable",
        "unsafe link.pointee.store(": "a read in the first block of further slots, portable",
        "depth.store((before / Self.number + 1) * Self.number + 1, ordering: .releasing)":
            "an owner that goes on when the next one has begun",
        "var now = depth.load(ordering: .acquiring)":
            "an owner that goes on when the next one has begun",
        "let (isDone, current) = depth.compareExchange(":
            "an owner that goes on when the next one has begun",
        "let left = depth.subtract(1, ordering: .acquiringAndReleasing).newValue":
            "two holds of a task, which end on two threads",
    ]

    /// The sources of the locks, which have a test of their own.
    private static let locks = ["Locks", "OwnedLock", "Parker", "WorkRing"]

    @Test func `Each order of the coordinator is needed`() throws {
        defer { World.weakening = nil }
        let weakenings = CoordinatorPrograms.all.reduce(into: Set<Weakening>()) {
            $0.formUnion($1.weakenings(schedules: rounds(debug: 3, release: 10)))
        }
        var lines: Set<String> = []
        for weakening in weakenings
        where !Self.locks.contains(where: { weakening.site.file.hasPrefix($0) }) {
            let line = try weakening.site.text
            lines.insert(line)
            let name = try #require(Self.needs[line], "no program is named for \(weakening)")
            let program = try #require(CoordinatorPrograms.named(name), "no program '\(name)'")
            World.weakening = weakening
            let report = program.search(schedules: 1_000)
            World.weakening = nil
            #expect(report.failure != nil, "\(weakening): \(report)")
        }
        #expect(lines == Set(Self.needs.keys))
    }

    @Test func `Without the system's barrier for all threads, a reader and a writer meet`() throws {
        World.lacksBarrier = true
        defer { World.lacksBarrier = false }
        let program = try #require(CoordinatorPrograms.named("a slot reader and a writer"))
        #expect(program.search(schedules: 1_000).failure?.kind == .dataRace)
    }
}
