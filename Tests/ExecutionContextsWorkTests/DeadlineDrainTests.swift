import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Writes and confined calls that run on the thread of another caller than their own (law 38).
@Suite(.patient)
struct DeadlineDrainTests {
    @Test func `Law 38: an enqueued write has no deadline of the reader that helps it`() async {
        let seen = Box<[Deadline?]>([])
        await offThePool {
            for _ in 0..<100 {
                let coordinator = ReadWriteCoordinator()
                coordinator.enqueueWrite { seen.withValue { $0.append(Deadline.current) } }
                withDeadline(in: Patience.event, on: .immediate) {
                    coordinator.read {}
                    coordinator.blockingWrite {}
                }
                // Its own exclusion runs it behind the accesses of the same thread.
                let resource = LockedResource(0, lockedBy: .section)
                resource.enqueueWrite { _ in seen.withValue { $0.append(Deadline.current) } }
                withDeadline(in: Patience.event, on: .immediate) { resource.read { _ in } }
                resource.mutate { _ in }
            }
        }
        #expect(seen.value.allSatisfy { $0 == nil })
        #expect(seen.value.count >= 100)
    }

    @Test func `Law 38: a view that carries the deadline carries it into a confined call`() {
        let manual = ManualContext(name: "manual")
        let confined = Confined(0, to: manual.serial().propagating(Deadline.taskLocal))
        let seen = Box<[Deadline?]>([])
        let submitter = Box<Deadline?>(nil)
        withDeadline(in: Patience.event, on: .immediate) {
            submitter.value = Deadline.current
            confined.perform { _ in seen.withValue { $0.append(Deadline.current) } }
        }
        confined.perform { _ in seen.withValue { $0.append(Deadline.current) } }
        manual.runReady()
        #expect(seen.value.count == 2)
        #expect(seen.value.first! === submitter.value && submitter.value != nil)
        #expect(seen.value.last! == nil)
    }
}
