import ExecutionContextsTesting

// Sequential models of simple structures.

struct StackModel: SequentialModel, Hashable {
    enum Operation: Sendable { case push(Int), pop }
    private var elements: [Int] = []
    init() {}

    mutating func apply(_ operation: Operation) -> Int? {
        guard case .push(let element) = operation else { return elements.popLast() }
        elements.append(element)
        return nil
    }
}

struct QueueModel: SequentialModel, Hashable {
    enum Operation: Sendable { case enqueue(Int), dequeue }
    private var elements: [Int] = []
    init() {}

    mutating func apply(_ operation: Operation) -> Int? {
        guard case .enqueue(let element) = operation else {
            return elements.isEmpty ? nil : elements.removeFirst()
        }
        elements.append(element)
        return nil
    }
}

struct RegisterModel: SequentialModel, Hashable {
    enum Operation: Sendable { case read, write(Int) }
    private var value = 0
    init() {}

    mutating func apply(_ operation: Operation) -> Int? {
        guard case .write(let new) = operation else { return value }
        value = new
        return nil
    }
}

/// Returns the new count.
struct CounterModel: SequentialModel, Hashable {
    private var count = 0
    init() {}

    mutating func apply(_ increment: Int) -> Int {
        count += increment
        return count
    }
}

struct MapModel: SequentialModel, Hashable {
    enum Operation: Sendable {
        case get(Int), put(Int, Int), remove(Int)

        var key: Int {
            switch self {
            case .get(let key), .put(let key, _), .remove(let key): key
            }
        }
    }
    private var values: [Int: Int] = [:]
    init() {}

    mutating func apply(_ operation: Operation) -> Int? {
        switch operation {
        case .get(let key): return values[key]
        case .put(let key, let value): return values.updateValue(value, forKey: key)
        case .remove(let key): return values.removeValue(forKey: key)
        }
    }
}

/// Wraps a model without being `Hashable`.
struct Unhashable<Base: SequentialModel>: SequentialModel {
    private var base: Base
    init(_ base: Base) { self.base = base }

    mutating func apply(_ operation: Base.Operation) -> Base.Answer { base.apply(operation) }
}
