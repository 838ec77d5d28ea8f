import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

// The snippets of the document on the coordination utilities, unchanged. Each test checks what the
// document says of its snippet.

@Suite(.patient)
struct ReadWriteCoordinator001Tests {
    /// The shared resource, with the snippet's getter.
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

    @Test func `Law 17: the snippet's getter sees the write before it`() async {
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

    @Test func `Law 17: the snippet's writes run one at a time, so no write is lost`() async {
        let resource = Resource()
        await onOwnThreads(4) {
            for _ in 0..<1_000 { resource.increment() }
        }
        #expect(await onOwnThread { resource.globalCount } == 4_000)
    }

    @Test func `Law 17: the snippet's readers run concurrently`() async {
        let lock = ReadWriteCoordinator()
        let firstIsInside = DispatchSemaphore(value: 0)
        let secondIsInside = DispatchSemaphore(value: 0)
        // Each reader stays inside until the other one is inside: one at a time, they would hang.
        async let other: Void = onOwnThread {
            lock.read {
                firstIsInside.signal()
                secondIsInside.wait()
            }
        }
        await onOwnThread {
            lock.read {
                secondIsInside.signal()
                firstIsInside.wait()
            }
        }
        await other
    }

    @Test func `Law 18: the snippet's write is asynchronous, and waits for the reader inside`()
        async
    {
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

    @Test func `Law 17: no reader of the snippet sees half of a write`() async {
        let lock = ReadWriteCoordinator()
        let pair = Pair()
        await onOwnThreads(4) {
            for _ in 0..<500 {
                lock.enqueueWrite {
                    pair.left += 1
                    pair.right += 1
                }
                lock.read {
                    if pair.left != pair.right {
                        Issue.record("A read saw \(pair.left) and \(pair.right).")
                    }
                }
            }
        }
        #expect(await onOwnThread { lock.read { pair.left } } == 2_000)
    }
}

/// Two numbers that every write changes together.
private final class Pair: @unchecked Sendable {
    // Unchecked: a coordinator guards it.
    var left = 0
    var right = 0
}
