import ExecutionContextsTesting
import Foundation
package import Testing

/// Where a test can run.
extension Trait where Self == ConditionTrait {
    /// Where the functions of Swift's runtime can be replaced.
    package static var tasksAreSimulated: Self {
        .enabled("where the runtime's functions can be replaced") { await replacesFunctions() }
    }

    /// Where those of the system can be replaced as well: for locks, semaphores and new tasks the
    /// thread sanitizer has its own.
    package static var systemIsSimulated: Self {
        .enabled("where the system's functions can be replaced") {
            guard !isUnderThreadSanitizer else { return false }
            return await replacesFunctions()
        }
    }

    /// The same, unless the environment switches Dispatch off.
    package static var dispatchIsSimulated: Self {
        .enabled("where the system's functions can be replaced") {
            let isOff = ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_DISPATCH"] == "0"
            guard !isOff, !isUnderThreadSanitizer else { return false }
            return await replacesFunctions()
        }
    }

    package static func withoutThreadSanitizer(_ why: Comment) -> Self {
        .disabled(if: isUnderThreadSanitizer, why)
    }
}

/// Whether searches control tasks.
package func replacesFunctions() async -> Bool {
    await search("probe", schedules: 1) { _ in }.missedChanges != nil
}

private var isUnderThreadSanitizer: Bool {
    unsafe dlsym(dlopen(nil, RTLD_NOW), "__tsan_create_fiber") != nil
}
