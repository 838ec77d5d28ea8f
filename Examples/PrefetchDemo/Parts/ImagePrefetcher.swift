import ExecutionContexts
import ExecutionContextsWork

/// Has images made ready before anybody asks for them; confined to the context that it is given.
final class ImagePrefetcher: Sendable {
    private struct State {
        var loads: [ImageRequest: (number: Int, subscription: Subscription)] = [:]
        var number = 0
    }

    private let pipeline: ImagePipeline
    private let state: Confined<State>
    private let whenIdle: @Sendable () -> Void

    /// Makes one that tells `whenIdle`, on its context, each time the last image that it wanted is there.
    init(
        on context: some SerialContext, pipeline: ImagePipeline, whenIdle: @escaping @Sendable () -> Void = {}
    ) {
        self.pipeline = pipeline
        self.whenIdle = whenIdle
        state = Confined(State(), to: context)
    }

    /// Begins to load what is not being loaded yet.
    func start(_ requests: [ImageRequest], priority: WorkPriority = .low) {
        state.perform { state in
            for request in requests where state.loads[request] == nil {
                state.number += 1
                let number = state.number
                // On a shared context this may be done by the time `load` returns: it is told behind this turn.
                let subscription = self.pipeline.load(request, priority: priority) { _ in
                    self.didLoad(request, number)
                }
                state.loads[request] = (number, subscription)
            }
        }
    }

    /// No longer wants these; who else wants them gets them all the same.
    func stop(_ requests: [ImageRequest]) {
        state.perform { state in
            for request in requests { state.loads.removeValue(forKey: request)?.subscription.cancel() }
        }
    }

    private func didLoad(_ request: ImageRequest, _ number: Int) {
        state.perform { state in
            // Or it was stopped, and begun again.
            guard state.loads[request]?.number == number else { return }
            state.loads[request] = nil
            if state.loads.isEmpty { self.whenIdle() }
        }
    }
}
