/// One part of the library that the run exercises.
enum Area: String, CaseIterable, Sendable {
    case contexts, delays, views, sections, coordinators, futures, pools, works, queues, operations

    /// Performs and checks one round of random operations, and returns the number of operations.
    func round(_ rng: inout SeededRNG) -> Int {
        switch self {
        case .contexts: Contexts.round(&rng)
        case .delays: Contexts.delays(&rng)
        case .views: Views.round(&rng)
        case .sections: Sections.round(&rng)
        case .coordinators: Coordinators.round(&rng)
        case .futures: Futures.round(&rng)
        case .pools: Pools.round(&rng)
        case .works: Works.round(&rng)
        case .queues: Works.queues(&rng)
        case .operations: Operations.round(&rng)
        }
    }
}
