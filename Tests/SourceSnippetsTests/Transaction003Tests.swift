import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

// The snippets of the post on thread-safe properties by a transaction wrapper, unchanged but for
// this: the types that they define are the library's, and the example runs in a test, which waits
// for its end.

/// The usage example and the program that checks it.
@Suite(.patient)
struct Transaction003Tests {
    class Counter {
        private static let queue = DispatchQueue(label: "counter", qos: .background)
        private var count = 0

        var tx: Transaction {
            return Transaction(queue: Counter.queue)
        }

        func increment() {
            tx.write {
                self.count += 1
            }
        }

        var currentValue: Int {
            return tx.read(count)
        }
    }

    @Test func `Law 28: the snippet's counter counts, and a read sees the increments before it`()
        async
    {
        let counter = Counter()
        let values = await withCheckedContinuation { continuation in
            let all = DispatchGroup()
            let values = Values()
            for _ in (0..<20) {
                DispatchQueue.global(qos: .background).async(group: all) {
                    // This is actually bad sample code because it's two calls where time passes in between
                    counter.increment()
                    let value = counter.currentValue
                    values.add(value)
                }
            }
            all.notify(queue: .global()) { continuation.resume(returning: values.all) }
        }
        #expect(values.count == 20)
        #expect(values.allSatisfy { (1...20).contains($0) })
        #expect(values.max() == 20)
        #expect(counter.currentValue == 20)
    }

    @Test func `Law 28: the snippet's block form reads, too`() {
        let tx = Transaction(queue: DispatchQueue(label: "block", attributes: .concurrent))
        var value = 1
        tx.write {}
        #expect(tx.read { value } == 1)
        value = tx.read(block: { value + 1 })
        #expect(tx.read(value) == 2)
    }
}

/// The values that the program printed.
private final class Values: @unchecked Sendable {
    // Unchecked: the lock guards the values.
    private let lock = NSLock()
    private var values: [Int] = []
    func add(_ value: Int) { lock.withLock { values.append(value) } }
    var all: [Int] { lock.withLock { values } }
}

/// The variant with a property wrapper.
@Suite(.patient)
struct TransactionWrapper003Tests {
    class Counter {
        private static let queue = DispatchQueue(label: "counter", qos: .background)

        @TransactionWrapper(wrappedValue: 0, queue: Counter.queue)
        private(set) var count

        func increment() {
            _count.mutate { $0 += 1 }
        }

        func incrementNaively() { count += 1 }
    }

    @Test func `Law 29: the snippet's naive increment loses no update here`() async {
        let counter = Counter()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 100) { index in
                    index.isMultiple(of: 2) ? counter.increment() : counter.incrementNaively()
                }
                continuation.resume()
            }
        }
        #expect(counter.count == 100)
    }
}
