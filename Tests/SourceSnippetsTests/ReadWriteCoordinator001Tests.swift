import Dispatch
import ExecutionContexts
import Foundation
import Testing

// The snippets of the document on the coordination utilities, as they stand there; around each, what the document says
// that it does.

@Suite(.timeLimit(.minutes(30)))
struct ReadWriteCoordinator001Tests {
    /// The shared resource, with the getter of the source.
    final class Resource: @unchecked Sendable {
        // Unchecked: the coordinator guards it.
        let lock = ReadWriteCoordinator()
        var stored = 0

        var globalCount: Int {
            get {
                var count: Int?
                lock.read {
                    count = stored
                }
                return count!
            }
        }

        func increment() {
            lock.enqueueWrite {
                // modify the shared resource
                self.stored += 1
            }
        }
    }

    @Test func `Law 17: the getter of the source sees the write before it`() async {
        let resource = Resource()
        let seen = await onOwnThread {
            (1...1_000).filter { _ in
                let before = resource.globalCount
                resource.increment()
                return resource.globalCount == before + 1
            }.count
        }
        #expect(seen == 1_000)
    }

    @Test func `Law 17: one writer of the source at a time, so no write is lost`() async {
        let resource = Resource()
        await onOwnThreads(4) {
            for _ in 0..<1_000 { resource.increment() }
        }
        #expect(await onOwnThread { resource.globalCount } == 4_000)
    }

    @Test func `Law 17: the readers of the source execute beside each other`() async {
        let lock = ReadWriteCoordinator()
        let mine = DispatchSemaphore(value: 0)
        let theirs = DispatchSemaphore(value: 0)
        // Each stays inside until the other is: one after the other they would wait for ever.
        async let other: Void = onOwnThread {
            lock.read {
                mine.signal()
                theirs.wait()
            }
        }
        await onOwnThread {
            lock.read {
                theirs.signal()
                mine.wait()
            }
        }
        await other
    }

    @Test func `Law 18: a write of the source is asynchronous, and waits for the reader inside`() async {
        let resource = Resource()
        let lock = resource.lock
        let (inside, after) = await onOwnThread {
            var seen: [Int] = []
            lock.read {
                // read some data from the shared resource
                seen.append(resource.stored)
                lock.enqueueWrite {
                    // modify the shared resource
                    resource.stored = 7
                }
                seen.append(resource.stored)
            }
            return (seen, resource.globalCount)
        }
        #expect(inside == [0, 0])
        #expect(after == 7)
    }

    @Test func `Law 17: no reader of the source sees half of a write`() async {
        let lock = ReadWriteCoordinator()
        let pair = Pair()
        await onOwnThreads(4) {
            for _ in 0..<500 {
                lock.enqueueWrite {
                    pair.left += 1
                    pair.right += 1
                }
                lock.read {
                    if pair.left != pair.right { Issue.record("A read saw \(pair.left) and \(pair.right).") }
                }
            }
        }
        #expect(await onOwnThread { lock.read { pair.left } } == 2_000)
    }
}

/// Two numbers that belong together.
private final class Pair: @unchecked Sendable {
    // Unchecked: a coordinator guards it.
    var left = 0
    var right = 0
}
