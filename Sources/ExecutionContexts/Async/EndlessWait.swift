/// Why a future state that the calling thread waits for cannot complete before that thread resumes,
/// unless it is cancelled or dropped.
///
/// It follows the dependencies to what has none, and then decides backwards which states may
/// complete: one that needs all of its dependencies, when all of them may; another one, when one of
/// them may. What is not known counts as what may complete. So an obstacle is certain: the calling
/// thread keeps a context busy, or keeps callbacks from being called, for as long as it waits.
struct EndlessWait {
    private struct Node {
        let state: FutureState
        /// Why it cannot complete, if its dependencies do not decide that.
        var obstacle: String?
        /// How many dependencies must be found that may complete; zero if it may itself.
        var missing = 0
        /// The nodes that depend on it.
        var dependents: [Int] = []
        var dependencies: [Int] = []
    }

    private var nodes: [Node] = []
    private var indices: [ObjectIdentifier: Int] = [:]

    /// Why `state` cannot complete; nil if it may.
    static func obstacle(of state: FutureState) -> String? {
        var wait = EndlessWait()
        _ = wait.index(of: state)
        var next = 0
        while next < wait.nodes.count {
            wait.examine(next)
            next += 1
        }
        wait.decide()
        return wait.nodes[0].missing == 0 ? nil : wait.firstObstacle
    }

    private mutating func index(of state: FutureState) -> Int {
        if let known = indices[ObjectIdentifier(state)] { return known }
        indices[ObjectIdentifier(state)] = nodes.count
        nodes.append(Node(state: state))
        return nodes.count - 1
    }

    /// Finds out what the state of a node needs.
    private mutating func examine(_ index: Int) {
        let state = nodes[index].state
        if state.mayEndAlone { return }
        nodes[index].obstacle = state.obstacle
        let (needsAll, dependencies) = (state.needsAll, state.dependencies)
        if needsAll && nodes[index].obstacle != nil { return nodes[index].missing = .max }
        // One that has completed and is about to notify counts as one that may complete.
        var mayEnd = dependencies.isEmpty && nodes[index].obstacle == nil
        var missing = 0
        for dependency in dependencies {
            if dependency.source.isPending {
                let source = self.index(of: dependency.source)
                nodes[index].dependencies.append(source)
                nodes[source].dependents.append(index)
                missing += 1
            } else if dependency.isHeldUpByCaller {
                nodes[index].obstacle =
                    "the caller is inside a callback of what it waits for, and callbacks do not overlap"
                missing += 1
            } else if !needsAll {
                mayEnd = true
            }
        }
        // It may have completed meanwhile.
        if !state.isPending { mayEnd = true }
        if mayEnd {
            nodes[index].missing = 0
        } else if needsAll {
            nodes[index].missing = missing
        } else {
            nodes[index].missing = 1
        }
    }

    /// Finds the nodes that may complete, from those that may by themselves.
    private mutating func decide() {
        var ending = nodes.indices.filter { nodes[$0].missing == 0 }
        while let index = ending.popLast() {
            for dependent in nodes[index].dependents where nodes[dependent].missing > 0 {
                nodes[dependent].missing -= 1
                if nodes[dependent].missing == 0 { ending.append(dependent) }
            }
        }
    }

    /// The obstacle nearest to the state that is waited for; without any, the states wait for each
    /// other.
    private var firstObstacle: String {
        var known: Set<Int> = [0]
        var next = [0]
        while let index = next.popLast() {
            if let obstacle = nodes[index].obstacle { return obstacle }
            for dependency in nodes[index].dependencies
            where nodes[dependency].missing > 0 && known.insert(dependency).inserted {
                next.append(dependency)
            }
        }
        return "it waits for itself"
    }
}

extension FutureState.Dependency {
    /// Whether the source has completed, and notifies the subscriber only when a callback that the
    /// caller is inside of has returned.
    fileprivate var isHeldUpByCaller: Bool {
        unsafe Frame.isCurrent(source.identity) && source.isAwaited(by: subscriber)
    }
}

extension Async {
    /// Why a wait for it could not end before the calling thread resumes; nil if it could.
    package var endlessWait: String? {
        state.isPending ? EndlessWait.obstacle(of: state) : nil
    }
}
