import AsyncFunctions
import ExecutionContexts

/// A way to submit a job through the functions.
enum Way: String, CaseIterable, Sendable {
    case async, asyncBarrier, mainThread
    case asyncAfterSeconds, asyncAfterDuration, mainThreadAfterSeconds, mainThreadAfterDuration

    /// The delayed ways, whose jobs can be cancelled.
    static let delayed: [Way] = [
        .asyncAfterSeconds, .asyncAfterDuration, .mainThreadAfterSeconds, .mainThreadAfterDuration,
    ]

    static let inSeconds: [Way] = [.asyncAfterSeconds, .mainThreadAfterSeconds]

    /// Submits `work`; a delayed way delays it by so many milliseconds.
    @discardableResult
    func submit(milliseconds: Int = 1, _ work: @escaping Work) -> DelayedWork? {
        switch self {
        case .async: AsyncFunctions.async(work)
        case .asyncBarrier: AsyncFunctions.asyncBarrier(work)
        case .mainThread: AsyncFunctions.mainThread(work)
        case .asyncAfterSeconds, .mainThreadAfterSeconds:
            return submit(seconds: Double(milliseconds) / 1_000, work)
        case .asyncAfterDuration, .mainThreadAfterDuration:
            return submit(after: .milliseconds(milliseconds), work)
        }
        return nil
    }

    /// Submits `work` to the background or to main after so many seconds.
    @discardableResult
    func submit(seconds: Double, _ work: @escaping Work) -> DelayedWork {
        isMain
            ? AsyncFunctions.mainThread(delay: seconds, work)
            : AsyncFunctions.async(delay: seconds, work)
    }

    /// The same after a duration.
    @discardableResult
    func submit(after delay: Duration, _ work: @escaping Work) -> DelayedWork {
        isMain
            ? AsyncFunctions.mainThread(delay: delay, work)
            : AsyncFunctions.async(delay: delay, work)
    }

    var isMain: Bool { rawValue.hasPrefix("main") }
}
