import Testing

@testable import Contention

/// What must not grow with the number of workers, counted on a simulated machine.
///
/// One machine runs at a time.
@Suite(.serialized, .patient)
struct ContentionTests {
    private static let many = rounds(debug: 32, release: 64)

    private func outcome(_ name: String, workers: Int, seed: UInt64 = 1) throws -> Outcome {
        let shape = try #require(
            (Shape.pool + Shape.coordinator).first { $0.description == name }, "no shape '\(name)'")
        return shape.outcome(workers: workers, seed: seed)
    }

    @Test func `A run depends on its seed and on nothing else`() throws {
        let first = try outcome("a tree", workers: 8)
        #expect(try outcome("a tree", workers: 8) == first)
        #expect(try outcome("a tree", workers: 8, seed: 2) != first)
    }

    @Test(arguments: [4, 16, many])
    func `A read moves no cache line while no thread writes, beside any number of readers`(
        workers: Int
    ) {
        // The threads take their records while the first ones read.
        #expect(Shape.readers.outcome(workers: workers).transfers < 0.01)
    }

    @Test(arguments: [4, many])
    func `A job wakes one worker of an idle pool`(workers: Int) {
        let outcome = Shape.idle.outcome(workers: workers)
        // Now and then the monitor as well.
        #expect(outcome.wakes >= 1 && outcome.wakes < 1.1)
        #expect(outcome.transfers < 30)
    }

    @Test(arguments: [4, 16, many])
    func `Jobs that submit jobs share no cache line that moves for each job`(workers: Int) throws {
        for name in ["as many chains", "a tree"] {
            let outcome = try outcome(name, workers: workers)
            #expect(outcome.hottestTransfers < 0.3, "\(name): \(outcome)")
            #expect(outcome.transfers < 2.5, "\(name): \(outcome)")
            #expect(outcome.wakes < 0.1, "\(name): \(outcome)")
        }
    }

    @Test(arguments: [4, 16, many])
    func `Serial views share no cache line that moves for each job`(workers: Int) throws {
        let outcome = try outcome(
            "a serial view for each thread that submits", workers: workers)
        #expect(outcome.hottestTransfers < 0.5, "\(outcome)")
        #expect(outcome.transfers < 2.5, "\(outcome)")
    }

    @Test(arguments: [4, 16, many])
    func `A job of one serial view moves the line of its mailbox once`(workers: Int) throws {
        let outcome = try outcome("one serial view for all threads", workers: workers)
        #expect(outcome.transfers < 1.5, "\(outcome)")
        #expect(outcome.hottest.contains("Mailbox"))
    }

    @Test(arguments: [4, 16, many])
    func `A lock that all threads want moves few lines for each owner`(workers: Int) throws {
        let outcome = try outcome("as many threads that submit", workers: workers)
        #expect(outcome.transfers < 12, "\(outcome)")
    }
}

struct CacheLinesTests {
    private let site = Site(fileID: "Module/File.swift", line: 7)

    @Test func `A line moves when another processor reads what one wrote, and when it writes it`() {
        let line = CacheLines.Line("line")
        _ = line.access(.write, by: 0, at: 0, site)
        #expect(line.transfers == 0)
        _ = line.access(.read, by: 0, at: 0, site)
        _ = line.access(.write, by: 0, at: 0, site)
        #expect(line.transfers == 0)
        for reader in 1...3 { for _ in 0..<2 { _ = line.access(.read, by: reader, at: 0, site) } }
        #expect(line.transfers == 3)
        for _ in 0..<2 { _ = line.access(.write, by: 0, at: 0, site) }
        #expect(line.transfers == 4)
        _ = line.access(.read, by: 3, at: 0, site)
        #expect(line.transfers == 5)
        #expect(line.hottest?.site.description == "File.swift:7")
    }

    @Test func `A line moves to one processor at a time`() {
        let line = CacheLines.Line("line")
        _ = line.access(.write, by: 0, at: 0, site)
        let first = line.access(.read, by: 1, at: 1_000, site)
        #expect(line.access(.read, by: 2, at: 1_000, site) == first + Cost.transfer)
    }

    @Test func `An object's lines are counted from its start`() {
        var lines = CacheLines()
        lines.name(1_000, byteCount: 100, "object")
        #expect(lines.line(of: 1_000) === lines.line(of: 1_063))
        #expect(lines.line(of: 1_064) !== lines.line(of: 1_063))
        #expect(lines.line(of: 1_099).name == "object, line 1")
        #expect(lines.line(of: 1_100).name == "other")
    }
}
