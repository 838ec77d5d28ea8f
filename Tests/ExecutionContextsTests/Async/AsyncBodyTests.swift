import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A trailing closure is a body that runs, and never a value.
///
/// `SourceSnippetsTests` checks the same in Swift 5 mode.
@Suite(.patient)
struct AsyncBodyTests {
    @globalActor actor Shelf { static let shared = Shelf() }

    @Test
    func
        `A trailing closure is the body of the Async, whatever its isolation and whether it awaits`()
        async throws
    {
        let calls = Box(0)
        let count: @Sendable () -> Int = {
            calls.withValue {
                $0 += 1; return $0
            }
        }
        let onMain = Async { @MainActor in count() }
        #expect(try await onMain.get() == 1)
        let sendable = Async { @Sendable in count() }
        #expect(try await sendable.get() == 2)
        let plain = Async { count() }
        #expect(try await plain.get() == 3)
        let long = Async {
            if calls.value < 0 { return 0 }
            return count()
        }
        #expect(try await long.get() == 4)
        let onShelf = Async { @Shelf in count() }
        #expect(try await onShelf.get() == 5)
        let awaiting = Async {
            await Task.yield()
            return count()
        }
        #expect(try await awaiting.get() == 6)
        let void = Async { @MainActor in _ = count() }
        try await void.get()
        #expect(calls.value == 7)
        // A function as a value needs `.success`.
        let function = Async<@Sendable () -> Int>(.success(count))
        #expect(calls.value == 7)
        #expect(try await function.get()() == 8)
    }

    @Test func `A trailing closure of a transaction is a block that runs inside it`() {
        let context = SerialQueueContext(name: "accounts")
        let isInside = Transaction(on: context).read { context.isCurrent == true }
        #expect(isInside)
    }
}
