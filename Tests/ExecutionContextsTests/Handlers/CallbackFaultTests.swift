import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Wrapped completion handlers that are called twice, never, or on a context that drops them.
@Suite(.patient)
struct CallbackFaultTests {
    @Test func `Law 24: the first call counts, and later calls are reported and do nothing`() {
        let manual = ManualContext(name: "screen")
        let faults = Box<[CallbackFault]>([])
        let values = Box<[Int]>([])
        let line: UInt = #line + 1
        let wrapped = manual.callback { (value: Int) in
            values.withValue { $0.append(value) }
        } onFault: { fault in
            faults.withValue { $0.append(fault) }
        }
        wrapped(1)
        wrapped(2)
        manual.runReady()
        wrapped(3)
        manual.runReady()
        #expect(values.value == [1])
        #expect(faults.value.map(\.reason) == [.calledAgain, .calledAgain])
        #expect(faults.value[0].context == "screen")
        #expect(
            faults.value[0].sourceLocation
                == "ExecutionContextsTests/CallbackFaultTests.swift:\(line)")
        let text = faults.value[0].description
        for part in ["'screen'", "CallbackFaultTests.swift:\(line)", "called again", "law 24"] {
            #expect(text.contains(part))
        }
    }

    @Test
    func
        `Law 25: a wrapped handler that is released uncalled is reported with its source location`()
        throws
    {
        let faults = Box<[CallbackFault]>([])
        let isFreed = Box(false)
        let line: UInt = #line + 2
        do {
            let wrapped = ManualContext(name: "screen").callback(capturing(isFreed)) { fault in
                // A handler that will not run is freed before the fault is reported.
                #expect(isFreed.value)
                faults.withValue { $0.append(fault) }
            }
            let copy = wrapped
            _ = (wrapped, copy)
            #expect(faults.value.isEmpty)
        }
        let fault = try #require(faults.value.first)
        #expect(faults.value.count == 1)
        #expect(fault.reason == .neverCalled)
        for part in ["'screen'", "CallbackFaultTests.swift:\(line)", "never called", "law 25"] {
            #expect(fault.description.contains(part))
        }
    }

    enum Rejection: CaseIterable, Sendable {
        case drops, refuses, invalidates, dropsLater

        /// A context of that kind, which does not run its first job, and the action that makes it
        /// drop or refuse that job.
        var context: (any ExecutionContext, reject: Work) {
            let manual = ManualContext(name: "lossy")
            switch self {
            case .drops: return (ClosureContext(name: "lossy") { _ in }, {})
            case .refuses:
                let full = manual.bounded(to: 1, overflow: .refuse)
                full.execute {}
                return (full, {})
            case .invalidates:
                let token = InvalidationToken()
                return (
                    manual.valid(while: token),
                    {
                        token.invalidate()
                        manual.runReady()
                    }
                )
            case .dropsLater:
                let kept = Box<[Work]>([])
                return (
                    ClosureContext(name: "lossy") { work in kept.withValue { $0.append(work) } },
                    { kept.value = [] }
                )
            }
        }

        var reason: Refusal.Reason {
            switch self {
            case .drops, .dropsLater: .abandoned
            case .refuses: .full(capacity: 1)
            case .invalidates: .invalidated
            }
        }
    }

    @Test(arguments: Rejection.allCases)
    func
        `Law 1: a context that refuses or drops a handler is reported once, and the handler is freed`(
            _ rejection: Rejection
        ) throws
    {
        let faults = Box<[CallbackFault]>([])
        let isFreed = Box(false)
        let (context, reject) = rejection.context
        let wrapped = context.callback(capturing(isFreed)) { fault in
            #expect(isFreed.value)
            faults.withValue { $0.append(fault) }
        }
        wrapped()
        reject()
        let fault = try #require(faults.value.first)
        #expect(faults.value.count == 1)
        #expect(fault.reason == .refused(rejection.reason))
        for part in ["'lossy'", "CallbackFaultTests.swift", "did not run", "law 1"] {
            #expect(fault.description.contains(part))
        }
        // The handler was called all the same, so a further call is a fault.
        wrapped()
        #expect(faults.value.map(\.reason) == [.refused(rejection.reason), .calledAgain])
    }

    @Test func `Law 1: on a context that runs its jobs twice, a handler runs once`() {
        let context = ClosureContext(name: "doubling") { work in
            work()
            work()
        }
        let runs = Box(0)
        context.callback {
            runs.withValue { $0 += 1 }
        } onFault: {
            Issue.record("\($0)")
        }()
        context.propagating(Request.$id).callback {
            runs.withValue { $0 += 1 }
        } onFault: {
            Issue.record("\($0)")
        }()
        #expect(runs.value == 2)
    }

    @Test func `Law 8: a dropped handler is reported through a propagating view, too`() {
        let faults = Box<[CallbackFault.Reason]>([])
        let lossy = ClosureContext(name: "lossy") { _ in }.propagating(Request.$id)
        let wrapped = lossy.callback {
        } onFault: { fault in
            faults.withValue { $0.append(fault.reason) }
        }
        wrapped()
        #expect(faults.value == [.refused(.abandoned)])
    }

    @Test
    func `Law 9: a handler, its fault closure and a capture's deinit may use the wrapped handler`()
    {
        let faults = Box<[CallbackFault.Reason]>([])
        let itself = Box<(@Sendable () -> Void)?>(nil)
        let runs = Box(0)
        for context in [.immediate, .trampoline, GlobalContext().serial()] as [any ExecutionContext]
        {
            let done = DispatchSemaphore(value: 0)
            let farewell = Box<Farewell?>(
                Farewell {
                    itself.value?()
                    done.signal()
                })
            itself.value = context.callback { [captured = farewell.withValue { $0.take()! }] in
                runs.withValue { $0 += 1 }
                itself.value?()
                context.callback { runs.withValue { $0 += 1 } }()
                _ = captured
            } onFault: { fault in
                faults.withValue { $0.append(fault.reason) }
                context.execute {}
            }
            itself.value?()
            done.wait()
            itself.value = nil
        }
        #expect(faults.value == Array(repeating: .calledAgain, count: 6))
    }

    @Test func `A fault prints one line to standard error only, and the process continues`()
        async throws
    {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            let wrapped = ImmediateContext().callback {}
            wrapped()
            wrapped()
            _ = ManualContext(name: "screen").callback { (_: Int) in }
            ClosureContext(name: "lossy") { _ in }.callback {}()
            // A token requests the drop, so it is no fault.
            let token = InvalidationToken()
            token.invalidate()
            ImmediateContext().valid(while: token).callback {}()
        }
        try expectTrap(
            result, "called again", "'immediate'", "never called", "'screen'", "'lossy'",
            "CallbackFaultTests.swift")
        let lines = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            .split(separator: "\n").filter { $0.contains("allback") }
        #expect(lines.count == 3)
        for line in lines { #expect(line.hasPrefix("ExecutionContexts: ")) }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        #expect(!output.contains("allback"))
    }

    private enum Request {
        @TaskLocal static var id = 0
    }
}

/// A handler that sets `isFreed` when its capture is freed.
func capturing(_ isFreed: Box<Bool>) -> @Sendable () -> Void {
    let farewell = Farewell { isFreed.value = true }
    return { _ = farewell }
}
