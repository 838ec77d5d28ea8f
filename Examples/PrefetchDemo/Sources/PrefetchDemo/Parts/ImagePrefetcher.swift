import ExecutionContexts
import ExecutionContextsWork

/// Loads images before they are requested. It is confined to the injected context.
final class ImagePrefetcher: Sendable {
    private struct State {
        var loads: [ImageRequest: (number: Int, subscription: Subscription)] = [:]
        var number = 0
    }

    private let pipeline: ImagePipeline
    private let state: Confined<State>
    private let whenIdle: @Sendable () -> Void

    /// Makes a prefetcher that calls `whenIdle` on `context` each time no image is left to load.
    init(
        on context: some SerialContext, pipeline: ImagePipeline,
        whenIdle: @escaping @Sendable () -> Void = {}
    ) {
        self.pipeline = pipeline
        self.whenIdle = whenIdle
        state = Confined(State(), to: context)
    }

    /// Begins to load those images that are not being loaded yet.
    func start(_ requests: [ImageRequest], priority: WorkPriority = .low) {
        state.perform { state in
            for request in requests where state.loads[request] == nil {
                state.number += 1
                let number = state.number
                // On a shared context the image may be loaded before `load` returns. `didLoad`
                // still runs after this job.
                let subscription = self.pipeline.load(request, priority: priority) { _ in
                    self.didLoad(request, number)
                }
                state.loads[request] = (number, subscription)
            }
        }
    }

    /// Cancels the loads of these images. Other subscribers still receive them.
    func stop(_ requests: [ImageRequest]) {
        state.perform { state in
            for request in requests {
                state.loads.removeValue(forKey: request)?.subscription.cancel()
            }
        }
    }

    private func didLoad(_ request: ImageRequest, _ number: Int) {
        state.perform { state in
            // Otherwise the load was stopped, and perhaps begun again.
            guard state.loads[request]?.number == number else { return }
            state.loads[request] = nil
            if state.loads.isEmpty { self.whenIdle() }
        }
    }
}
