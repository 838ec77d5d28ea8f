import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// What a label does, and where the names of jobs are shown.
struct JobLabelTests {
    private let manual = ManualContext(name: "manual")
    private let names = NameObserver()

    private func at(_ line: UInt) -> [String] { ["JobLabelTests.swift:\(line)"] }

    @Test func `Each submission of a labelled view carries the label`() throws {
        let context: any ExecutionContext = manual.observed(by: names).labeled("decode")
        context.execute {}
        context.enqueue {}
        context.submit {}
        context.schedule(after: .zero) {}
        try manual.runUntilIdle()
        Async(.success(1)).onSuccess(on: context) { _ in }
        context.callback {}()
        #expect(names.take() == Array(repeating: "decode", count: 6))
        context.with(.labeled("nearest")).execute {}
        #expect(names.take() == ["nearest"])
        manual.labeled("outside").observed(by: names).execute {}
        #expect(names.take() == ["outside"])
        try manual.runUntilIdle()
    }

    @Test func `A labelled job has both its label and its place`() throws {
        let recorder = Recorder()
        let context = manual.observed(by: recorder)
        let observed = Box<ObservedWork?>(nil)
        struct Keep: ContextObserver {
            let job: Box<ObservedWork?>
            func enqueued(_ work: ObservedWork) { job.withValue { $0 = work } }
            func finished(_ work: ObservedWork, waited: Duration, ran: Duration) {}
        }
        manual.observed(by: Keep(job: observed)).labeled("decode").execute {}
        #expect(observed.value?.label == "decode")
        #expect(observed.value?.sourceLocation == at(#line - 2)[0])
        context.labeled("decode").execute {}
        #expect(recorder.jobs.first?.label == "decode")
        #expect(recorder.jobs.first?.name == "decode")
        try manual.runUntilIdle()
    }

    @MainActor @Test func `A closure of the main actor is shown by its own line`() throws {
        let main = ManualMainContext()
        let context = main.observed(by: names)
        context.execute { MainActor.assertIsolated() }
        #expect(names.take() == at(#line - 1))
        context.labeled("show").execute { MainActor.assertIsolated() }
        #expect(names.take() == ["show"])
        try main.runUntilIdle()
    }

    // MARK: Where it is shown

    @Test func `Recorder, trace and page show the names`() throws {
        let recorder = Recorder()
        let context = manual.observed(by: recorder)
        context.execute {}
        let place = at(#line - 1)[0]
        context.labeled("decode \"wren\"").execute {}
        context.serial(named: "index").execute {}
        try manual.runUntilIdle()
        let titles = [place, "decode \"wren\"", "drain of 'index'"]
        #expect(recorder.jobs.map(\.name) == titles)
        let trace = recorder.traceJSON()
        let page = recorder.timelineHTML()
        for (title, number) in zip(titles, 1...) {
            let text = "manual #\(number): \(title)"
            #expect(trace.contains(JSON.quoted(text)))
            #expect(page.contains(JSON.quoted(title)))
        }
    }

    @Test func `A report of a stall names the job`() throws {
        let time = ManualTime()
        let reporter = ManualContext(name: "reporter", time: time)
        let stalls = Box<[StalledJob]>([])
        // The reporter runs, and the watched context does not.
        let base = ByHand(time: reporter.time)
        let watched = base.watched(limit: .seconds(1), on: reporter) { stall in
            stalls.withValue { $0.append(stall) }
        }
        watched.execute {}
        let place = at(#line - 1)[0]
        time.advance(by: .seconds(1))
        base.jobs.value = []
        watched.labeled("decode").submit {}
        time.advance(by: .seconds(1))
        #expect(stalls.value.map(\.name) == [place, "decode"])
        #expect(stalls.value.first?.description.contains("Job 1 (\(place)) has waited") == true)
    }

    /// Keeps its jobs, and runs none.
    private struct ByHand: ExecutionContext {
        let time: any TimeSource
        let jobs = Box<[Work]>([])

        func execute(_ work: consuming @escaping Work) {
            let work = work
            jobs.withValue { $0.append(work) }
        }
    }

    // MARK: What is not named

    @Test func `A recorder keeps four thousand labels at a time`() throws {
        let recorder = Recorder()
        let context = manual.observed(by: recorder)
        for number in 0...4_000 { context.labeled("label \(number)").execute {} }
        let line: UInt = #line - 1
        #expect(recorder.jobs.dropLast().map(\.name) == (0..<4_000).map { "label \($0)" })
        #expect(recorder.jobs.last?.name == at(line)[0])
        try manual.runUntilIdle()
    }

    @Test func `A job whose submission was overwritten is shown by its number`() throws {
        let recorder = Recorder(capacity: 2)
        let context = manual.observed(by: recorder)
        context.execute {}
        try manual.runUntilIdle()
        #expect(recorder.jobs.map(\.name) == ["#1"])
    }
}

/// A string literal as the page and the trace write it.
private enum JSON {
    static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\"", with: "\\\"").replacing("'", with: "\\u0027")
        return "\"\(escaped)\""
    }
}
