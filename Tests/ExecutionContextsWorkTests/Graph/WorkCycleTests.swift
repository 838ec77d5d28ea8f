import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Law 32: exactly the work that would need itself fails, and detecting a cycle costs little.
@Suite(.patient)
struct WorkCycleTests {
    private let context = ManualContext()

    private func works(on graph: WorkGraph) -> (SingleFlight<Int, Int>, Box<[Int: Flight<Int>]>) {
        let flights = Box<[Int: Flight<Int>]>([:])
        return (
            SingleFlight(name: "work", in: graph) { key, flight in
                flights.withValue { $0[key] = flight }
            }, flights
        )
    }

    @Test(arguments: 1...60)
    func `Law 32: a work item fails where it would need itself, and nowhere else`(seed: UInt64) {
        var rng = SeededRNG(seed: seed << 32)
        let count = 4 + rng.next(below: 60)
        let graph = WorkGraph(on: context)
        let (works, flights) = works(on: graph)
        let ends = Box<[Int: String]>([:])
        let subscriptions = (0..<count).map { key in
            works[key].subscribe { event in
                if case .failure(let error)? = event.outcome {
                    ends.withValue { $0[key] = "\(error)" }
                }
            }
        }
        context.runReady()
        // What each work item needs, as the graph knows it.
        var needs: [Int: [(key: Int, need: Subscription)]] = [:]
        func reaches(_ from: Int, _ to: Int) -> Bool {
            var (open, seen) = ([from], Set([from]))
            while let key = open.popLast() {
                if key == to { return true }
                for next in needs[key] ?? [] where seen.insert(next.key).inserted {
                    open.append(next.key)
                }
            }
            return false
        }
        for _ in 0..<count * 6 {
            let (from, to) = (rng.next(below: count), rng.next(below: count))
            guard ends.value[from] == nil, ends.value[to] == nil else { continue }
            if rng.next(below: 8) == 0, let some = needs[from]?.indices.randomElement() {
                needs[from]!.remove(at: some).need.cancel()
                context.runReady()
                continue
            }
            let closesCycle = reaches(to, from)
            let need = flights.value[from]!.depend(on: works[to]) { _ in }
            context.runReady()
            guard closesCycle else {
                #expect(ends.value[from] == nil)
                needs[from, default: []].append((to, need))
                continue
            }
            let text = ends.value[from] ?? "nothing"
            #expect(text.contains("work[\(from)] -> "))
            // Each name along the cycle needs the next one.
            let path = text.split(separator: ":").last!.split(separator: ".").first!.split(
                separator: "-"
            )
            .compactMap { Int($0.filter(\.isNumber)) }
            #expect(path.first == from && path.last == from && path.dropFirst().first == to)
            for (one, next) in zip(path.dropFirst(), path.dropFirst(2)) {
                #expect(needs[one]?.contains { $0.key == next } == true)
            }
            needs[from] = nil
            for key in needs.keys { needs[key]!.removeAll { $0.key == from } }
        }
        for subscription in subscriptions { subscription.cancel() }
        flights.value = [:]
        context.runReady()
        #expect(graph.liveCount == 0)
    }

    /// Shapes in which each new need leads from a work item that is needed to one that needs many.
    enum Shape: CaseIterable, Sendable { case hub, ladder, backward, comb }

    @Test(arguments: Shape.allCases)
    func `Checking many needs for cycles does not search through all of them`(shape: Shape) {
        let many = rounds(debug: 2_000, release: 6_000)
        let graph = WorkGraph(on: context)
        let (works, flights) = works(on: graph)
        let subscriptions = (0..<2 * many + 2).map { works[$0].subscribe { _ in } }
        context.runReady()
        let all = flights.value
        func need(_ from: Int, _ to: Int) { all[from]!.depend(on: works[to]) { _ in } }
        let (top, hub) = (2 * many, 2 * many + 1)
        switch shape {
        case .hub:
            for key in 0..<many { need(hub, many + key) }
            for key in 0..<many { need(top, key) }
            for key in 0..<many { need(key, hub) }
        case .ladder:
            for key in 0..<many - 1 { need(key, key + 1) }
            for key in 0..<many - 1 { need(many + key, many + key + 1) }
            for key in 0..<many - 1 { need(key, many + key) }
        case .backward:
            for key in (0..<many - 1).reversed() { need(key, key + 1) }
            for key in 0..<many - 2 { need(key, key + 2) }
        case .comb:
            for key in 0..<many { need(top, key) }
            for key in 0..<many - 1 { need(key, key + 1) }
            need(hub, top)
            for key in 0..<many { need(key, many + key) }
        }
        context.runReady()
        #expect(graph.liveCount == 2 * many + 2)
        for subscription in subscriptions { subscription.cancel() }
        context.runReady()
        #expect(graph.liveCount == 0)
    }
}
