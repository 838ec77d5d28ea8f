import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What a manual context reports of work that no thread runs.
@Suite(.patient)
struct ManualReportTests {
    @Test
    func `A manual context that is released with ready work says so, and where it comes from`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            let context = ManualContext(name: "forgotten")
            context.execute {}
            context.execute {}
        }
        try expectTrap(
            result, "'forgotten' was released with work that never ran (law 10)",
            "and 1 more")
    }

    @Test func `Law 10: pending work is listed while another thread runs and frees it`() {
        let context = ManualContext(name: "busy")
        let isOver = Box(false)
        onThreads([
            {
                for number in 0..<rounds(debug: 500, release: 5_000) {
                    _ = context.submit { number }
                    context.runReady()
                }
                isOver.value = true
            },
            {
                while !isOver.value {
                    for work in context.pending {
                        #expect(work.description.contains("ManualReportTests.swift"), "\(work)")
                    }
                }
            },
        ])
    }

    @Test func `A manual context whose work has run, was dropped or is background says nothing`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            do {
                let context = ManualContext()
                context.execute {}
                context.runReady()
            }
            do {
                let context = ManualContext()
                context.execute {}
                try? context.finish()
            }
            do { ManualContext(isBackground: true).execute {} }
        }
        let output = try #require(result).standardErrorContent
        #expect(!String(decoding: output, as: UTF8.self).contains("released"))
    }

    @Test func `A manual context that a task awaits and nobody runs says so`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            unsafe UndrivenTimes.interval = .milliseconds(50)
            exitWhenReported("no thread runs it") {
                let context = ManualContext(name: "by hand")
                // It was run before, and then forgotten.
                context.execute {}
                context.runReady()
                Task { try await context.run {} }
            }
        }
        try expectTrap(
            result, "'by hand' has had work ready", "runReady()", "ManualReportTests.swift")
    }
}
