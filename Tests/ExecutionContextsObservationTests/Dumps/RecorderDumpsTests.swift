import ExecutionContexts
import ExecutionContextsDiagnostics
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Dumps of a recorder: when they are written, what they hold, and how many are kept.
struct RecorderDumpsTests {
    private func folder() -> String {
        FileManager.default.temporaryDirectory.path + "/dumps-\(UUID().uuidString)"
    }

    private func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func `A dump has the jobs of the last seconds, and its reason`() throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let manual = ManualContext(name: "orders")
        let recorder = Recorder()
        let orders = manual.observed(by: recorder)
        let dumps = try recorder.dumps(to: folder, last: .seconds(10), on: [])
        for number in 1...3 {
            manual.named("view \(number)").observed(by: recorder).execute {
                manual.stall(for: .seconds(6))
            }
            manual.runReady()
        }
        orders.execute {}
        manual.runReady()
        let path = try #require(dumps.write("a <slow> order"))
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.contains("a &lt;slow&gt; order") || page.contains("a \\u003cslow"))
        // The first job ended twelve seconds before the last one.
        #expect(page.contains("view 3") && page.contains("orders"))
        #expect(recorder.jobs.count == 4)
    }

    @Test func `The oldest file makes room`() throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let recorder = Recorder()
        let dumps = try recorder.dumps(to: folder, keeping: 2, on: [])
        let paths = try (1...5).map { try #require(dumps.write("dump \($0)")) }
        #expect(Set(paths).count == 5)
        let names = paths.suffix(2).map { ($0 as NSString).lastPathComponent }
        #expect(try files(in: folder) == names.sorted())
    }

    @Test func `A folder that cannot be made is an error, and a file that cannot is nil`() throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let recorder = Recorder()
        let dumps = try recorder.dumps(to: folder, on: [])
        let path = try #require(dumps.write("the first"))
        #expect(throws: (any Error).self) { try recorder.dumps(to: path, on: []) }
        try FileManager.default.removeItem(atPath: folder)
        #expect(dumps.write("nowhere") == nil)
    }

    @Test func `A trap of the library writes a dump before the process ends`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let folder =
                FileManager.default.temporaryDirectory.path + "/dumps-\(UUID().uuidString)"
            let recorder = Recorder()
            try recorder.dumps(to: folder)
            let view = ImmediateContext().observed(by: recorder)
            view.execute { _ = Recorder(capacity: 0) }
        }
        let output = try #require(result).standardErrorContent
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.contains("A recorder of 0 events"))
        let line = try #require(text.split(separator: "\n").first { $0.contains("last seconds") })
        let path = String(try #require(line.components(separatedBy: " are in ").last))
        defer {
            try? FileManager.default.removeItem(
                atPath: (path as NSString).deletingLastPathComponent)
        }
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.contains("A recorder of 0 events") && page.contains("immediate"))
    }

    @Test func `A handler that traps ends the process with the first message`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = TrapHandlers.add { _ in _ = Recorder(capacity: -7) }
            _ = Recorder(capacity: 0)
        }
        let output = try #require(result).standardErrorContent
        #expect(String(decoding: output, as: UTF8.self).contains("A recorder of -7 events"))
    }

    @Test func `A signal writes a dump, and does what it did before after the stop`() async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGUSR2), observing: [\.standardOutputContent]
        ) {
            let folder =
                FileManager.default.temporaryDirectory.path + "/dumps-\(UUID().uuidString)"
            let dumps = try Recorder().dumps(to: folder, on: [.signal(SIGUSR2)])
            kill(getpid(), SIGUSR2)
            // A thread of the library writes the file.
            while written(in: folder) == 0 { await Task.yield() }
            FileHandle.standardOutput.write(Data("dumped \(written(in: folder))".utf8))
            try FileManager.default.removeItem(atPath: folder)
            dumps.stop()
            kill(getpid(), SIGUSR2)
        }
        let output = try #require(result).standardOutputContent
        #expect(String(decoding: output, as: UTF8.self).contains("dumped 1"))
    }

    @Test func `A dump for a signal comes while all threads of Dispatch are blocked`() async throws
    {
        await #expect(processExitsWith: .success) {
            let folder =
                FileManager.default.temporaryDirectory.path + "/dumps-\(UUID().uuidString)"
            let dumps = try Recorder().dumps(to: folder, on: [.signal(SIGUSR2)])
            for quality in [DispatchQoS.QoSClass.userInteractive, .userInitiated, .default] {
                for _ in 0..<64 {
                    DispatchQueue.global(qos: quality).async { DispatchSemaphore(value: 0).wait() }
                }
            }
            for number in 0..<300 {
                DispatchQueue(label: "blocked \(number)").async {
                    DispatchSemaphore(value: 0).wait()
                }
            }
            kill(getpid(), SIGUSR2)
            while written(in: folder) == 0 { sched_yield() }
            dumps.stop()
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test func `A signal before the stop of an earlier receiver is none of a later one's`() async {
        await #expect(processExitsWith: .success) {
            let folder =
                FileManager.default.temporaryDirectory.path + "/dumps-\(UUID().uuidString)"
            for _ in 0..<50 {
                try Recorder().dumps(to: folder, on: [.signal(SIGUSR2)]).stop()
                let dumps = try Recorder().dumps(to: folder, on: [.signal(SIGUSR2)])
                kill(getpid(), SIGUSR2)
                while written(in: folder) == 0 { sched_yield() }
                precondition(written(in: folder) == 1, "a stop is no signal")
                dumps.stop()
                try FileManager.default.removeItem(atPath: folder)
            }
        }
    }

    @Test func `Two recorders that dump to one folder write each a file of its own`() throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let all = try (0..<4).map { _ in try Recorder().dumps(to: folder, on: []) }
        let paths = Box<[String]>([])
        onThreads(
            all.map { dumps in
                {
                    for _ in 0..<8 {
                        let path = dumps.write("a reason")
                        paths.withValue { $0.append(path ?? "none") }
                    }
                }
            })
        #expect(Set(paths.value).count == 32)
        #expect(try files(in: folder).count == 32)
    }

    @Test func `A signal of a fault is refused, since its instruction would run again`()
        async throws
    {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = RecorderDumps.Occasion.signal(SIGSEGV)
        }
        try expectTrap(result, "The signal \(SIGSEGV) cannot be the occasion", "SIGUSR1")
    }

    @Test func `After the stop a trap writes nothing`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let folder =
                FileManager.default.temporaryDirectory.path + "/dumps-\(UUID().uuidString)"
            try Recorder().dumps(to: folder).stop()
            try FileManager.default.removeItem(atPath: folder)
            _ = Recorder(capacity: 0)
        }
        let output = try #require(result).standardErrorContent
        #expect(!String(decoding: output, as: UTF8.self).contains("last seconds"))
    }
}

/// How many dumps are written in a folder, to the end.
private func written(in folder: String) -> Int {
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
    return names.count { name in
        let facts = try? files.attributesOfItem(atPath: folder + "/" + name)
        return name.hasSuffix(".html") && (facts?[.size] as? Int ?? 0) > 0
    }
}
