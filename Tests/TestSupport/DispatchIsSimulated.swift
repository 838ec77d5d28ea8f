import ExecutionContextsTesting
import Foundation
package import Testing

extension Trait where Self == ConditionTrait {
    /// On Linux only, unless the environment switches it off; not under the thread sanitizer, which
    /// has its own functions for semaphores.
    package static var dispatchIsSimulated: Self {
        .enabled("where the runtime's functions can be replaced") {
            guard ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_DISPATCH"] != "0"
            else { return false }
            return await search("probe", schedules: 1) { _ in }.missedChanges != nil
        }
    }
}
