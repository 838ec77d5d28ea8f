import Foundation
import Synchronization

// Correct programs, each over another way in which Swift orders accesses.

// Unchecked: the programs that use it order all accesses.
private struct Copied: @unchecked Sendable {
    private var held = Holder([Int]())
    mutating func add(_ item: Int) {
        if !isKnownUniquelyReferenced(&held) { held = Holder(held.value) }
        held.value.append(item)
    }
    var count: Int { held.value.count }
}

private final class Shared: Sendable {
    let list = Mutex(Copied())
}

private actor Store {
    private var items: [String: [Int]] = [:]
    func add(_ key: String, _ item: Int) async {
        items[key, default: []].append(item)
        await Task.yield()
        items[key, default: []].append(item)
    }
    func all() -> [String: [Int]] { items }
}

// Unchecked: the programs that use it order all accesses.
private final class Node: @unchecked Sendable {
    let value: Int
    let next: Node?
    init(_ value: Int, _ next: Node?) { (self.value, self.next) = (value, next) }
}

private final class Stack: Sendable {
    private let first = Mutex<Node?>(nil)
    func push(_ value: Int) { first.withLock { $0 = Node(value, $0) } }
    func pop() -> Int {
        first.withLock { first in
            defer { first = first?.next }
            return first
        }?.value ?? 0
    }
}

// Unchecked: the programs that use it order all accesses.
private final class Once: @unchecked Sendable {
    static let shared = Once()
    static let table = Mutex([1: "a"])
    let list = AtomicLazyReference<Counter>()
    let number = 5
}

// Unchecked: the programs that use it order all accesses.
private final class Inbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var items: [Int] = []
    func put(_ item: Int) {
        condition.lock()
        items.append(item)
        condition.signal()
        condition.unlock()
    }
    func take() -> Int {
        condition.lock()
        defer { condition.unlock() }
        while items.isEmpty { condition.wait() }
        return items.removeFirst()
    }
}

private enum Locals { @TaskLocal static var number = 0 }

extension TaskProgram {
    static let right = [
        TaskProgram("arrays that are copied when they are written") { _ in
            var all = [1, 2, 3]
            let copy = all
            async let sum = copy.reduce(0, +)
            all.append(4)
            all[0] = 9
            let other = all
            async let otherSum = other.reduce(0, +)
            all.append(5)
            use(await sum + otherSum + all.count)
        },
        TaskProgram("a struct that is copied when it is written") { _ in
            let shared = Shared()
            await withTaskGroup(of: Int.self) { group in
                for item in 0..<4 {
                    group.addTask {
                        shared.list.withLock { $0.add(item) }
                        return shared.list.withLock { $0 }.count
                    }
                }
                for await count in group { use(count) }
            }
        },
        TaskProgram("an actor with a dictionary") { _ in
            let store = Store()
            await withTaskGroup(of: Void.self) { group in
                for item in 0..<3 {
                    group.addTask {
                        await store.add("\(item % 2)", item)
                        use(await store.all().count)
                    }
                }
            }
        },
        TaskProgram("a stream of arrays") { _ in
            let (stream, sender) = AsyncStream.makeStream(of: [Int].self)
            let receiver = Task {
                for await items in stream { use(items.reduce(0, +)) }
            }
            for item in 0..<3 { sender.yield([item, item]) }
            sender.finish()
            await receiver.value
        },
        TaskProgram("a continuation that a thread resumes") { _ in
            let result = Counter()
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    result.add()
                    continuation.resume()
                }
            }
            use(result.count)
        },
        TaskProgram("queues, groups and barriers") { _ in
            let (queue, group) = (DispatchQueue(label: "queue"), DispatchGroup())
            let many = DispatchQueue(label: "many", attributes: .concurrent)
            let (list, other) = (Holder([0]), Counter())
            for item in 0..<2 {
                queue.async(group: group) { list.value.append(item) }
                many.async { use(other.count) }
                many.async(flags: .barrier) { other.add() }
            }
            await withCheckedContinuation { done in group.notify(queue: queue) { done.resume() } }
            use(list.value.count + queue.sync { list.value.count })
            use(many.sync(flags: .barrier) { other.count })
        },
        TaskProgram("a parallel loop, a target, and the main queue") { _ in
            let (loop, target) = (Counter(), DispatchQueue(label: "target"))
            let queue = DispatchQueue(label: "queue", target: target)
            let (counter, main) = (Counter(), Counter())
            let lock = NSLock()
            DispatchQueue.concurrentPerform(iterations: 3) { _ in lock.withLock { loop.add() } }
            use(loop.count)
            queue.async { counter.add() }
            DispatchQueue.main.async { main.add() }
            await MainActor.run { main.add() }
            await withCheckedContinuation { done in
                DispatchQueue.global().async {
                    queue.sync { counter.add() }
                    use(queue.sync { counter.count } + DispatchQueue.main.sync { main.count })
                    done.resume()
                }
            }
            use(counter.count)
        },
        TaskProgram("a mutex that is tried") { _ in
            let shared = Shared()
            await withTaskGroup(of: Void.self) { group in
                for item in 0..<3 {
                    group.addTask {
                        if shared.list.withLockIfAvailable({ $0.add(item) }) == nil {
                            shared.list.withLock { $0.add(item) }
                        }
                        use(shared.list.withLock { $0.count })
                    }
                }
            }
        },
        TaskProgram("operations that depend on one another") { _ in
            let (queue, counter) = (OperationQueue(), Counter())
            let (first, second) = (
                BlockOperation { counter.add() }, BlockOperation { counter.add() }
            )
            second.addDependency(first)
            await withCheckedContinuation { done in
                second.completionBlock = { done.resume() }
                queue.addOperations([first, second], waitUntilFinished: false)
            }
            use(counter.count)
        },
        TaskProgram("a stack behind a mutex, and objects that are made once") { _ in
            let (stack, once, inbox) = (Stack(), Once(), Inbox())
            async let one: Void = {
                stack.push(1)
                inbox.put(stack.pop())
                use(once.list.storeIfNil(Counter()).count + Once.shared.number)
            }()
            async let other: Void = {
                stack.push(2)
                use(inbox.take() + stack.pop())
                use(once.list.storeIfNil(Counter()).count + Once.table.withLock { $0.count })
            }()
            _ = await (one, other)
        },
        TaskProgram("task-locals and results of a group") { _ in
            await Locals.$number.withValue(3) {
                async let one = Locals.number
                async let other = Locals.number
                use(await one + other)
            }
            let texts = await withTaskGroup(of: (Int, String).self) { group in
                for child in 0..<3 { group.addTask { (child, String(repeating: "x", count: 20)) } }
                var texts = [String](repeating: "", count: 3)
                for await (child, text) in group { texts[child] = text }
                return texts
            }
            use(texts.count)
        },
        TaskProgram("a variable that is captured by value") { _ in
            var number = 1
            let add = { number += 1 }
            add()
            let now = number
            async let later = now + 1
            add()
            use(await later + number)
        },
    ]
}
