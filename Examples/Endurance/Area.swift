/// One part of the library, as the run uses it.
enum Area: String, CaseIterable, Sendable {
    case contexts, delays, views, sections, coordinators, futures, pools, works, queues, operations

    /// Does one round of random operations, checks it, and returns how many operations it was.
    func round(_ dice: inout Dice) -> Int {
        switch self {
        case .contexts: Contexts.round(&dice)
        case .delays: Contexts.delays(&dice)
        case .views: Views.round(&dice)
        case .sections: Sections.round(&dice)
        case .coordinators: Coordinators.round(&dice)
        case .futures: Futures.round(&dice)
        case .pools: Pools.round(&dice)
        case .works: Works.round(&dice)
        case .queues: Works.queues(&dice)
        case .operations: Operations.round(&dice)
        }
    }
}
