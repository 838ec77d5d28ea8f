import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Contexts of a simulation whose faults the schedule decides.
@Suite(.patient)
struct FaultyContextTests {
    private struct Missing: Error {}

    /// What a program with one thread can come to, in all its orders.
    private func ends(
        _ body: @escaping @Sendable (SimulatedWorld) throws -> String
    ) -> (SimulationReport, Set<String>) {
        let ends = Box<Set<String>>([])
        let report = search("ends", strategy: .exhaustive) { sim in
            let end = Tracked("", name: "end")
            sim.spawn("alice") { end.value = try body(sim) }
            sim.finally("noted") {
                ends.value = ends.value.union([end.value])
                return true
            }
        }
        return (report, ends.value)
    }

    @Test func `Law 33: a refused job is told to its caller, in some schedule and not in all`() {
        let (report, ends) = ends { sim in
            let context = sim.faulty(sim.serial(named: "server"))
            var told = Result { try context.submit { "1" }.wait() }.text
            do throws(Refusal) { try context.tryExecute {} } catch {
                told += ", tried: \(error.reason)"
            }
            return told
        }
        #expect(report.failure == nil && report.isComplete, "\(report)")
        #expect(
            ends == [
                "1", "refused: shutDown", "1, tried: shutDown",
                "refused: shutDown, tried: shutDown",
            ])
    }

    @Test func `Law 33: a lost job is found where the program counts on it`() throws {
        let report = search("losing") { sim in
            let context = sim.faulty(sim.serial(named: "queue"), [.loss])
            let promise = Promise<Void>()
            sim.spawn("alice") { context.execute { promise.succeed(()) } }
            sim.spawn("bob") { try promise.async.wait() }
        }
        let failure = try #require(report.failure)
        #expect(failure.told.contains("'queue' loses a job"), "\(failure)")
        #expect(failure.switches == 1)
    }

    @Test func `Law 33: the caller of a lost job that awaits it is told`() {
        let (report, ends) = ends { sim in
            let context = sim.faulty(sim.global, [.loss])
            return Result { try context.submit { "1" }.wait() }.text
        }
        #expect(report.failure == nil && report.isComplete, "\(report)")
        #expect(ends == ["1", "refused: abandoned"])
    }

    @Test func `Law 33: a job that runs twice is found where the program counts on once`() throws {
        let report = search("repeating") { sim in
            let context = sim.faulty(sim.barrier(named: "mail"), [.repetition])
            let sent = Tracked(0, name: "sent")
            sim.spawn("alice") { context.execute { sent.value += 1 } }
            sim.finally("sent once") { sent.value == 1 }
        }
        let failure = try #require(report.failure)
        #expect(failure.happened.contains("'sent' is"), "\(failure)")
        #expect(failure.told.contains("'mail' repeats a job"), "\(failure)")
    }

    @Test func `Law 33: a lost delay is found by who waits for it without a limit`() throws {
        let report = search("forgetting") { sim in
            let context = sim.faulty(sim.serial(named: "timer"), [.lostDelay])
            let promise = Promise<Void>()
            sim.spawn("alice") {
                _ = context.schedule(after: .seconds(1)) { promise.succeed(()) }
                try promise.async.wait()
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.told.contains("'timer' loses a delay"), "\(failure)")
    }

    @Test func `Law 33: the refusals of a faulty context's base are kept, and all are asked`() {
        let (report, ends) = ends { sim in
            let full = sim.faulty(
                sim.serial(named: "server").bounded(to: 1, overflow: .refuse), [.loss])
            var told = ""
            for _ in 0..<3 {
                do throws(Refusal) { try full.tryExecute { sim.step() } } catch {
                    told += "\(error.reason) "
                }
            }
            return told
        }
        #expect(report.failure == nil, "\(report)")
        #expect(ends.contains { $0.contains("full") } && ends.contains(""), "\(ends)")
        let twice = search("twice faulty", strategy: .exhaustive) { sim in
            let context = sim.faulty(sim.faulty(sim.serial(named: "server")), [])
            sim.spawn("alice") { try? context.tryExecute {} }
        }
        #expect(twice.orders == 2, "\(twice)")
    }

    @Test func `Law 33: only jobs of plain execute are repeated`() {
        let report = search("once", strategy: .exhaustive, ignoring: [.vacuous]) { sim in
            let context = sim.faulty(sim.serial(named: "mail"), [.repetition])
            let sent = Tracked(0, name: "sent")
            sim.spawn("alice") { try? context.tryExecute { sent.value += 1 } }
            sim.finally("sent once") { sent.value == 1 }
        }
        #expect(report.failure == nil && report.isComplete, "\(report)")
    }

    @Test func `Law 33: without a fault of a kind the context has none of it`() {
        let report = search("sound", schedules: 300) { sim in
            let context = sim.faulty(sim.serial(named: "server"), [])
            let count = Tracked(0, name: "count")
            sim.spawn("alice") {
                context.execute { count.value += 1 }
                context.executeBarrier { count.value += 1 }
                _ = try context.submit { count.value += 1 }.wait()
                _ = context.schedule(after: .seconds(1)) { count.value += 1 }
            }
            sim.finally("all ran") { count.value == 4 }
        }
        #expect(report.failure == nil, "\(report)")
    }
}

extension Result where Success == String {
    fileprivate var text: String {
        switch self {
        case .success(let text): text
        case .failure(let refusal as Refusal): "refused: \(refusal.reason)"
        case .failure(let error): "\(error)"
        }
    }
}
