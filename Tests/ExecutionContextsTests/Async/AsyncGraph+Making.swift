import ExecutionContexts
import ExecutionContextsTesting

// Derives futures, in the library and in the model.
extension AsyncGraph {
    func combine() {
        let sources = (0...rng.next(below: 3)).compactMap { _ in held() }
        guard !sources.isEmpty else { return }
        let nodes = sources.map { model.nodes[$0] }
        let asyncs = sources.compactMap { handles[$0] }
        let sentinel = sentinels.make()
        switch rng.next(below: 5) {
        case 0:
            let node = model.joined(nodes) { outcomes, last in
                guard case .value = last else { return last }
                var sum = 0
                for case let outcome in outcomes {
                    guard case .value(let value)? = outcome else { return nil }
                    sum += value
                }
                return .value(sum % 20)
            }
            // Two futures here, but one in the model: only the `map` subscribes to the `all`.
            let all = Async.all(asyncs).map { values in
                _ = sentinel; return values.reduce(0, +) % 20
            }
            add(all, node, "all of \(sources)")
        case 1:
            let node = model.joined(nodes) { outcomes, _ in
                if outcomes.contains(nil) { return nil }
                return .value(outcomes.count { if case .value? = $0 { true } else { false } })
            }
            let all = Async.allSettled(asyncs).map { outcomes in
                _ = sentinel; return outcomes.count { (try? $0.get()) != nil }
            }
            add(all, node, "the outcomes of all \(sources)")
        case 2:
            let node = model.joined(nodes) { outcomes, _ in
                .value(outcomes.firstIndex { $0 != nil } ?? -1)
            }
            let first = Async.firstCompletion(of: asyncs).map { completion in
                _ = sentinel; return completion.index
            }
            add(first, node, "which is the first of \(sources)")
        case 3:
            let node = model.joined(nodes) { _, last in last }
            add(Async.first(of: asyncs), node, "the first of \(sources)")
        default:
            let node = model.joined(nodes) { outcomes, last in
                if case .value = last { return last }
                return outcomes.contains(nil) ? nil : last
            }
            add(Async.firstSuccess(of: asyncs), node, "the first success of \(sources)")
        }
    }

    func wait() {
        guard let number = held(), let source = handles[number] else { return }
        let node = model.nodes[number]
        let time = rng.next(below: 15) + 1
        switch rng.next(below: 4) {
        case 0 where node.outcome == nil:
            add(
                source.timeout(after: .milliseconds(time), on: context),
                model.timeout(node, after: time),
                "timeout of \(number) after \(time)")
        case 1:
            add(
                source.delay(.seconds(Int64.max), on: context), model.delayed(node, by: nil),
                "\(number), never")
        case 2:
            add(
                source.shielded(), model.derive(.shielded, from: node) { ($0, nil) },
                "\(number), shielded")
        default:
            add(
                source.delay(.milliseconds(time), on: context), model.delayed(node, by: time),
                "\(number), \(time) later")
        }
    }

    func derive() {
        guard let number = held(), let source = handles[number], let otherNumber = held(),
            let other = handles[otherNumber]
        else { return }
        let (node, otherNode) = (model.nodes[number], model.nodes[otherNumber])
        let sentinel = sentinels.make()
        switch rng.next(below: 9) {
        case 0:
            let mapped = source.map { value in
                _ = sentinel; return try Self.next(value)
            }
            add(mapped, model.derive(from: node) { (Self.next($0), nil) }, "map of \(number)")
        case 1:
            let mapped = source.map(on: context) { value in
                _ = sentinel; return try Self.next(value)
            }
            let hops: (AsyncModel.Outcome) -> Bool = { if case .value = $0 { true } else { false } }
            add(
                mapped, model.derive(from: node, hops: hops) { (Self.next($0), nil) },
                "map of \(number), later")
        case 2:
            let mapped = source.mapError { error in
                _ = sentinel
                return (error as? Oops).map { Oops(number: $0.number + 1) } ?? error
            }
            let result = model.derive(from: node) { outcome in
                if case .failed(let number) = outcome { return (.failed(number + 1), nil) }
                return (outcome, nil)
            }
            add(mapped, result, "mapError of \(number)")
        case 3:
            let recovered = source.recover { _ in
                _ = sentinel; return 7
            }
            let result = model.derive(from: node) { outcome in
                if case .value = outcome { return (outcome, nil) }
                return (.value(7), nil)
            }
            add(recovered, result, "recover of \(number)")
        case 4:
            let mapped = source.flatMap { value in
                _ = sentinel; return value % 3 == 0 ? Async(.success(value)) : other
            }
            let result = model.derive(from: node, capturing: otherNode) { outcome in
                guard case .value(let value) = outcome else { return (outcome, nil) }
                return value % 3 == 0 ? (outcome, nil) : (nil, otherNode)
            }
            add(mapped, result, "flatMap of \(number) to \(otherNumber)")
        case 5:
            let name = "andThen \(handles.count)"
            let after = source.andThen { [log] _ in
                _ = sentinel
                log.withValue { $0.append(name) }
            }
            let result = model.derive(from: node) { [unowned model] outcome in
                model.log.append(name)
                return (outcome, nil)
            }
            add(after, result, "andThen of \(number)")
        case 6:
            let name = "andThen \(handles.count)"
            let after = source.andThen(on: context) { [log] _ in
                _ = sentinel
                log.withValue { $0.append(name) }
            }
            let result = model.derive(from: node, hops: { _ in true }) { [unowned model] outcome in
                model.log.append(name)
                return (outcome, nil)
            }
            add(after, result, "andThen of \(number), later")
        case 7:
            let name = "lazy \(handles.count) begins"
            let throwing = rng.next(below: 4) == 0
            let lazy = Async.lazy { [log] in
                _ = sentinel
                log.withValue { $0.append(name) }
                if throwing { throw Oops(number: 3) }
                return other
            }
            let result = model.lazy(capturing: otherNode) { [unowned model] in
                model.log.append(name)
                return throwing ? (.failed(3), nil) : (nil, otherNode)
            }
            add(lazy, result, "lazy, \(throwing ? "which throws" : "as \(otherNumber)")")
        default:
            let recovered = source.flatRecover { _ in
                _ = sentinel; return other
            }
            let result = model.derive(from: node, capturing: otherNode) { outcome in
                if case .value = outcome { return (outcome, nil) }
                return (nil, otherNode)
            }
            add(recovered, result, "flatRecover of \(number) to \(otherNumber)")
        }
    }

    private static func next(_ value: Int) throws -> Int {
        if value % 5 == 0 { throw Oops(number: value) }
        return value + 1
    }

    private static func next(_ outcome: AsyncModel.Outcome) -> AsyncModel.Outcome {
        guard case .value(let value) = outcome else { return outcome }
        return value % 5 == 0 ? .failed(value) : .value(value + 1)
    }
}
