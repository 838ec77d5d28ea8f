import ExecutionContexts
import ExecutionContextsObservation
import Foundation

/// A transport over another one. A recorder shows each request from its start to its answer.
struct RecordedTransport: Transport {
    let base: any Transport
    let recorder: Recorder

    func get(_ path: String) -> Async<Data> {
        base.get(path).recorded(by: recorder, as: "GET \(path)")
    }
}
