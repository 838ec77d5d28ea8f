import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

@Suite(.patient)
struct ConfinedTests {
    private struct Oops: Error {}

    @Test func `Law 6: two confined values on one context call each other without a submission`() {
        let manual = ManualContext()
        let recorder = WorkRecorder()
        let context: any SerialContext = RecordingContext(manual, into: recorder)
        let (outer, inner) = (Confined<[Int]>([], to: context), Confined<[Int]>([], to: context))
        outer.perform { values in
            for value in 1...4 {
                values.append(value)
                inner.perform { $0.append(value * 10) }
            }
        }
        let seen = Box<[Int]>([])
        manual.runReady()
        #expect(recorder.submitted.count == 1)
        inner.perform { values in seen.value = values }
        manual.runReady()
        #expect(seen.value == [10, 20, 30, 40])
    }

    @Test func `A nested call runs after the outer call, so accesses never overlap`() throws {
        let manual = ManualContext()
        let log = Confined<[String]>([], to: manual)
        log.perform { entries in
            log.perform { $0.append("inner") }
            entries.append("outer")
        }
        manual.runReady()
        let all = log.submit { $0 }
        manual.runReady()
        #expect(try all.outcome?.get() == ["outer", "inner"])
    }

    @Test func `Law 1: values and errors reach the caller, and a callback may call again`() throws {
        let manual = ManualContext()
        let number = Confined(1, to: manual)
        let (value, error) = (number.submit { $0 + 1 }, number.submit { _ -> Int in throw Oops() })
        manual.runReady()
        #expect(try value.outcome?.get() == 2)
        #expect(throws: Oops.self) { try error.outcome?.get() }
        // A callback may call again, since the access has ended by then.
        let again = number.submit { $0 }.flatMap { _ in number.submit { $0 + 5 } }
        manual.runReady()
        #expect(try again.outcome?.get() == 6)
    }

    @Test func `Law 2: no change made by sixteen threads is lost`() async throws {
        let counter = Confined(0, to: GlobalContext().serial(named: "counter"))
        await offThePool {
            onThreads(16) { for _ in 0..<1_000 { counter.perform { $0 += 1 } } }
            #expect(try! counter.submit { $0 }.wait() == 16_000)
        }
        #expect(try await counter.run { $0 } == 16_000)
    }

    @Test func `Law 10: a submitted call runs after the owner was released`() {
        let manual = ManualContext()
        let done = Box(0)
        var value: Confined<Int>? = Confined(3, to: manual)
        value?.perform { number in done.value = number }
        value = nil
        manual.runReady()
        #expect(done.value == 3)
    }
}
