import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Who submitted whom: a piece knows the observed piece that ran where it was submitted.
struct HopTests {
    /// The submitters of all pieces, as `context #number <- context #number`.
    private func hops(_ recorder: Recorder) -> [String] {
        let pieces = recorder.pieces
        let names = Dictionary(uniqueKeysWithValues: pieces.map { ($0.id, "\($0.context) #\($0.id.piece)") })
        return pieces.map { "\(names[$0.id]!) <- \($0.submitter.map { names[$0] ?? "?" } ?? "nobody")" }
    }

    @Test func `A piece knows who submitted it, over several contexts`() throws {
        let recorder = Recorder()
        let time = ManualTime()
        let a = ManualContext(name: "a", time: time).observed(by: recorder)
        let b = ManualContext(name: "b", time: time).observed(by: recorder)
        a.execute { b.execute { a.execute {} } }
        a.execute { a.execute {} }
        try time.runUntilIdle()
        #expect(
            hops(recorder) == [
                "a #1 <- nobody", "a #2 <- nobody", "b #1 <- a #1", "a #3 <- a #2", "a #4 <- b #1",
            ])
    }

    @Test func `Inside a piece that runs in another the inner one submits, and after it the outer one`() {
        let recorder = Recorder()
        let outer = ImmediateContext().named("outer").observed(by: recorder)
        let inner = ImmediateContext().named("inner").observed(by: recorder)
        let leaf = ImmediateContext().named("leaf").observed(by: recorder)
        outer.execute {
            inner.execute { leaf.execute {} }
            leaf.execute {}
        }
        leaf.execute {}
        #expect(
            hops(recorder) == [
                "outer #1 <- nobody", "inner #1 <- outer #1", "leaf #1 <- inner #1", "leaf #2 <- outer #1",
                "leaf #3 <- nobody",
            ])
    }

    @Test func `A piece on another thread is nobody's, unless it is observed`() async {
        let recorder = Recorder()
        let leaf = ImmediateContext().named("leaf").observed(by: recorder)
        let queue = DispatchQueue(label: "unseen")
        let start = ImmediateContext().named("start").observed(by: recorder)
        await withCheckedContinuation { done in
            start.execute {
                queue.async {
                    leaf.execute {}
                    done.resume()
                }
            }
        }
        #expect(hops(recorder) == ["start #1 <- nobody", "leaf #1 <- nobody"])
    }

    @Test func `A body that is waited for knows who waits, also through a view`() async {
        let recorder = Recorder()
        let view = GlobalContext().serial("view").observed(by: recorder)
        let section = CriticalSection(name: "section").observed(by: recorder)
        await offThePool {
            let done = DispatchSemaphore(value: 0)
            view.execute {
                section.sync { section.execute {} }
                done.signal()
            }
            done.wait()
        }
        #expect(
            hops(recorder) == ["view #1 <- nobody", "section #1 <- view #1", "section #2 <- section #1"])
    }

    @Test func `A coordinator reports its reads and writes, and who made them`() async {
        let recorder = Recorder()
        let coordinator = ReadWriteCoordinator(name: "state", carrier: .immediate).observed(by: recorder)
        await offThePool {
            coordinator.read { coordinator.enqueueWrite {} }
            #expect(coordinator.blockingWrite { coordinator.read { 5 } } == 5)
            coordinator.reading.execute {}
            coordinator.writing.sync {}
        }
        #expect(
            hops(recorder) == [
                "state.reading #1 <- nobody", "state.writing #1 <- state.reading #1",
                "state.writing #2 <- nobody", "state.reading #2 <- state.writing #2",
                "state.reading #3 <- nobody", "state.writing #3 <- nobody",
            ])
        #expect(recorder.pieces.allSatisfy { $0.state == .finished })
    }

    @Test func `A wait for a section is a wait, and who held it is known`() async {
        let recorder = Recorder()
        let section = CriticalSection(name: "section").observed(by: recorder)
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            onThreads([
                {
                    section.sync {
                        isInside.signal()
                        // Until the other one has said that it wants to get in.
                        while recorder.pieces.count < 2 {}
                    }
                },
                {
                    isInside.wait()
                    section.sync {}
                },
            ])
        }
        #expect(recorder.pieces.map { $0.behind?.piece } == [nil, 1])
    }

    @Test func `A hold is a piece from its call to its release`() {
        let recorder = Recorder()
        let view = SerialQueueContext(label: "queue").observed(by: recorder) as! any SynchronousBarrierContext
        let hold = view.hold()
        #expect(recorder.pieces.map(\.state) == [.running])
        hold.release()
        #expect(recorder.pieces.map(\.state) == [.finished])
    }
}
