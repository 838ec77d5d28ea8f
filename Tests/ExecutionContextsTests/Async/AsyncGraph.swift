import ExecutionContexts
import ExecutionContextsTesting

/// One random graph of futures, in the library and in the model.
final class AsyncGraph {
    var rng: SeededRNG
    let sentinels: Sentinels
    let context = ManualContext()
    let model = AsyncModel()
    let log = Box<[String]>([])
    /// One for each node of the model; nil where the handle has been released.
    var handles: [Async<Int>?] = []
    var promises: [Int: Promise<Int>] = [:]
    var tokens: [(InvalidationToken, () -> Void)] = []
    var steps: [String] = []

    init(_ seed: UInt64, _ sentinels: Sentinels) {
        rng = SeededRNG(seed: seed)
        self.sentinels = sentinels
    }

    /// What went wrong in the graph of a seed, or nil.
    static func fault(of seed: UInt64) -> String? {
        let sentinels = Sentinels()
        var steps: [String] = []
        var hasCycle = false
        do {
            let graph = AsyncGraph(seed, sentinels)
            if let fault = graph.run() { return fault }
            hasCycle = graph.model.hasCycle
            steps = graph.steps
        }
        if hasCycle || sentinels.living == 0 { return nil }
        return "\(sentinels.living) captures are left, after \(steps.joined(separator: "; "))"
    }

    /// What went wrong, and after which steps.
    private func run() -> String? {
        for _ in 0..<40 {
            step()
            if let fault = compare() { return describe(fault) }
        }
        for number in promises.keys.sorted() { drop(number) }
        if let fault = compare() { return describe(fault) }
        advance(by: 1_000)
        return compare().map(describe)
    }

    private func describe(_ fault: String) -> String {
        "\(fault), after \(steps.joined(separator: "; "))"
    }

    private func compare() -> String? {
        for (node, handle) in zip(model.nodes, handles) {
            guard let handle else { continue }
            let outcome = handle.outcome.map(Self.translated)
            if outcome != node.outcome {
                return "\(node.number) is \(outcome as Any) and should be \(node.outcome as Any)"
            }
        }
        return log.value == model.log ? nil : "calls were \(log.value) and should be \(model.log)"
    }

    static func translated(_ outcome: Result<Int, any Error>) -> AsyncModel.Outcome {
        switch outcome {
        case .success(let value): .value(value)
        case .failure(let error as Oops): .failed(error.number)
        case .failure(AsyncError.timedOut): .timedOut
        case .failure(is AsyncError): .dropped
        case .failure: .cancelled
        }
    }

    // MARK: - Steps

    private func step() {
        // With so few futures, nesting stays below the limit of the model.
        let mayGrow = handles.count < 13
        switch rng.next(below: mayGrow ? 20 : 10) {
        case 0: finish()
        case 1: if let number = held() { cancel(number) }
        case 2: advance(by: rng.next(below: 12))
        case 3, 4: if let number = held() { observe(number) }
        case 5: if let number = held() { observe(number, whileValid: true) }
        case 6: if !tokens.isEmpty { invalidate() }
        case 7: if let number = held() { release(number) }
        case 8: if let number = openPromise(), rng.next(below: 2) == 0 { drop(number) }
        case 9: follow()
        case 10, 11, 12: makePromise()
        case 13: combine()
        case 14: wait()
        default: derive()
        }
    }

    func held() -> Int? {
        let all = handles.indices.filter { handles[$0] != nil }
        return all.isEmpty ? nil : all[rng.next(below: all.count)]
    }

    private func openPromise() -> Int? {
        let all = promises.keys.sorted()
        return all.isEmpty ? nil : all[rng.next(below: all.count)]
    }

    func add(_ async: Async<Int>, _ node: AsyncModel.Node, _ what: String) {
        handles.append(async)
        steps.append("\(node.number) = \(what)")
    }

    private func makePromise() {
        let promise = Promise<Int>()
        let node = model.make(.promise)
        promises[node.number] = promise
        add(promise.async, node, "promise")
        let victim = rng.next(below: 2) == 0 ? held() : nil
        let other = victim.flatMap { $0 == node.number ? nil : handles[$0] }
        let otherNode = other == nil ? nil : victim.map { model.nodes[$0] }
        let name = "handler of \(node.number)"
        promise.onCancel { [log, sentinel = sentinels.make()] in
            _ = sentinel
            log.withValue { $0.append(name) }
            other?.cancel()
        }
        model.onCancel(node, capturing: otherNode) { [unowned model] in
            model.log.append(name)
            if let otherNode { _ = model.cancel(otherNode) }
        }
        if let otherNode { steps.append("whose handler cancels \(otherNode.number)") }
    }

    private func finish() {
        guard let number = openPromise() else { return }
        let value = rng.next(below: 20)
        if rng.next(below: 2) == 0 {
            steps.append("\(number) succeeds with \(value)")
            promises[number]?.succeed(value)
            model.end(model.nodes[number], .value(value))
        } else {
            steps.append("\(number) fails with \(value)")
            promises[number]?.fail(Oops(number: value))
            model.end(model.nodes[number], .failed(value))
        }
    }

    private func drop(_ number: Int) {
        steps.append("the promise of \(number) is released")
        promises[number] = nil
        model.drop(model.nodes[number])
    }

    private func cancel(_ number: Int) {
        steps.append("\(number) is cancelled")
        let did = handles[number]?.cancel()
        if did != model.cancel(model.nodes[number]) { log.withValue { $0.append("wrong answer") } }
    }

    private func release(_ number: Int) {
        steps.append("the handle of \(number) is released")
        handles[number] = nil
    }

    private func follow() {
        guard let number = openPromise(), let other = held(), other < number,
            let handle = handles[other]
        else { return }
        steps.append("\(number) follows \(other)")
        let did = promises[number]?.follow(handle)
        if did != model.follow(model.nodes[number], model.nodes[other]) {
            log.withValue { $0.append("wrong answer") }
        }
    }

    private func advance(by milliseconds: Int) {
        steps.append("\(milliseconds) ms pass")
        context.advance(by: .milliseconds(milliseconds))
        model.advance(by: milliseconds)
    }

    private func observe(_ number: Int, whileValid: Bool = false) {
        let name = "callback \(steps.count) of \(number)"
        steps.append(name)
        let body: @Sendable (Result<Int, any Error>) -> Void = {
            [log, sentinel = sentinels.make()] outcome in
            _ = sentinel
            log.withValue { $0.append("\(name): \(Self.translated(outcome))") }
        }
        let node = model.nodes[number]
        let subscriber = AsyncModel.FutureSubscriber { [unowned model] in
            model.log.append("\(name): \($0)")
        }
        if whileValid {
            let token = InvalidationToken()
            handles[number]?.onComplete(while: token, body)
            tokens.append((token, { [unowned model] in model.leave(node, subscriber) }))
        } else {
            handles[number]?.onComplete(body)
        }
        model.join(node, subscriber, isCallback: !whileValid)
    }

    private func invalidate() {
        let (token, leave) = tokens.remove(at: rng.next(below: tokens.count))
        steps.append("a token is invalidated")
        token.invalidate()
        leave()
    }
}
