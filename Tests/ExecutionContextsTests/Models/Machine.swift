import Dispatch

/// A small machine with several processors, each with a store buffer. Every run of it can be tried.
///
/// - A store enters the processor's buffer, and reaches memory at some later time. The processor
///   itself sees it at once. Real processors do the same, which can break a handshake of two.
/// - An atomic read-modify-write waits until the buffer is empty.
/// - Threads share bytes. Each step of a program happens at one instant.
struct World: Hashable {
    /// The memory that all processors share.
    var memory = Bytes(count: 56)
    var processors: [Processor]

    struct Processor: Hashable {
        var counter: UInt8 = 0
        var hasEnded = false
        var registers = Bytes(count: 16)
        /// Stores that have not reached memory, oldest first: two bytes each.
        fileprivate var buffer: UInt64 = 0
        fileprivate var buffered: UInt8 = 0
    }

    /// Bytes that are compared and hashed by the word.
    struct Bytes: Hashable {
        fileprivate var words: [UInt64]

        init(count: Int) { words = Array(repeating: 0, count: (count + 7) / 8) }

        subscript(index: Int) -> UInt8 {
            get { UInt8(truncatingIfNeeded: words[index >> 3] >> UInt64((index & 7) * 8)) }
            set {
                let shift = UInt64((index & 7) * 8)
                words[index >> 3] = words[index >> 3] & ~(0xff << shift) | UInt64(newValue) << shift
            }
        }
    }

    /// The first check that failed, or nil.
    var fault: String?

    func load(_ address: Int, by processor: Int) -> UInt8 {
        let own = processors[processor]
        for index in (0..<UInt64(own.buffered)).reversed() {
            let store = own.buffer >> (16 * index)
            if UInt8(truncatingIfNeeded: store) == UInt8(address) {
                return UInt8(truncatingIfNeeded: store >> 8)
            }
        }
        return memory[address]
    }

    mutating func store(_ value: UInt8, in address: Int, by processor: Int) {
        let end = UInt64(processors[processor].buffered)
        precondition(end < 4, "A model that stores more needs a larger buffer.")
        processors[processor].buffer |= (UInt64(value) << 8 | UInt64(address)) << (16 * end)
        processors[processor].buffered += 1
    }

    func hasBuffered(_ processor: Int) -> Bool { processors[processor].buffered > 0 }

    mutating func drainOldest(of processor: Int) {
        let store = processors[processor].buffer
        memory[Int(store & 0xff)] = UInt8(truncatingIfNeeded: store >> 8)
        processors[processor].buffer = store >> 16
        processors[processor].buffered -= 1
    }

    mutating func drainAll(of processor: Int) {
        while hasBuffered(processor) { drainOldest(of: processor) }
    }

    // By hand: an exploration compares millions of worlds, and the synthesized operator compares
    // byte by byte.
    static func == (left: World, right: World) -> Bool {
        left.memory.words == right.memory.words && left.processors == right.processors
            && left.fault == right.fault
    }

    func hash(into hasher: inout Hasher) {
        for word in memory.words { hasher.combine(word) }
        for processor in processors { processor.hash(into: &hasher) }
    }

    mutating func check(_ condition: Bool, _ message: String) {
        if !condition { fault = fault ?? message }
    }
}

/// Where a processor continues after a step.
enum Move {
    case next
    case to(String)
    /// Any of several steps. All are tried.
    case either([String])
    /// The processor cannot continue until another one has made a step.
    case blocked
    case end
}

/// The steps of one processor, by name.
struct Program {
    typealias Step = (_ world: inout World, _ me: Int) -> Move

    private(set) var names: [String] = []
    private(set) var steps: [Step] = []
    private(set) var isAtomic: [Bool] = []
    private(set) var index: [String: UInt8] = [:]

    /// Adds a step, which may only store, or load one word.
    mutating func step(_ name: String, _ step: @escaping Step) { add(name, isAtomic: false, step) }

    /// Adds an atomic read-modify-write, or a step under a lock. The processor's buffer is empty
    /// before.
    mutating func atomic(_ name: String, _ step: @escaping Step) { add(name, isAtomic: true, step) }

    /// Adds the barrier for all processors. Each passes it at a time of its own.
    mutating func barrier(_ name: String, processors: Int) {
        for processor in 0..<processors {
            add("\(name) \(processor)", isAtomic: true) { world, _ in
                world.drainAll(of: processor)
                return .next
            }
        }
        index[name] = index["\(name) 0"]
    }

    private mutating func add(_ name: String, isAtomic: Bool, _ step: @escaping Step) {
        index[name] = UInt8(steps.count)
        names.append(name)
        steps.append(step)
        self.isAtomic.append(isAtomic)
    }
}

/// The result of trying every run.
struct Exploration: Sendable {
    var states = 0
    /// What failed, and the steps that lead there.
    var failure: (message: String, trace: [String])?
}

/// Tries every run of the programs, one for each processor.
func explore(_ programs: [Program], from start: World, limit: Int = 2_000_000) -> Exploration {
    var known: [World: Int] = [start: 0]
    var queue = [start]
    var predecessors: [(from: Int, step: String)] = [(0, "start")]
    var result = Exploration()

    func trace(to last: Int) -> [String] {
        var steps: [String] = []
        var index = last
        while index != 0 {
            steps.append(predecessors[index].step)
            index = predecessors[index].from
        }
        return steps.reversed()
    }

    var head = 0
    while head < queue.count {
        let world = queue[head]
        var isStuck = true
        func reach(_ next: World, _ step: @autoclosure () -> String) {
            isStuck = false
            guard known[next] == nil else { return }
            known[next] = queue.count
            queue.append(next)
            predecessors.append((head, step()))
            if let fault = next.fault, result.failure == nil {
                result.failure = (fault, trace(to: queue.count - 1))
            }
        }
        for (me, program) in programs.enumerated() {
            if world.hasBuffered(me) {
                var next = world
                next.drainOldest(of: me)
                reach(next, "\(me): a store arrives")
            }
            let processor = world.processors[me]
            let counter = Int(processor.counter)
            if processor.hasEnded || program.isAtomic[counter] && world.hasBuffered(me) { continue }
            var next = world
            let move = program.steps[counter](&next, me)
            let step = "\(me): \(program.names[counter])"
            switch move {
            case .blocked: continue
            case .end:
                next.processors[me].hasEnded = true
                reach(next, step)
            case .next:
                next.processors[me].counter += 1
                reach(next, step)
            case .to(let name):
                next.processors[me].counter = program.index[name]!
                reach(next, step)
            case .either(let names):
                for name in names {
                    next.processors[me].counter = program.index[name]!
                    reach(next, step)
                }
            }
            if result.failure != nil { break }
        }
        if isStuck, !world.processors.allSatisfy(\.hasEnded), result.failure == nil {
            let waiting = world.processors.enumerated().filter { !$1.hasEnded }.map {
                "\($0) at '\(programs[$0].names[Int($1.counter)])'"
            }
            result.failure = ("waits for ever: \(waiting.joined(separator: ", "))", trace(to: head))
        }
        head += 1
        result.states = queue.count
        if result.failure != nil || queue.count > limit { break }
    }
    precondition(
        result.failure != nil || queue.count <= limit, "too many states: make the model smaller")
    return result
}

/// Runs `body` on a thread outside of the cooperative pool, and returns its result.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "exploration").async { continuation.resume(returning: body()) }
    }
}
