import Foundation

/// Runs `body` on a new thread, which is outside of any simulation of the caller's.
package func onThreadOutside(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }
