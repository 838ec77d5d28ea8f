internal import CPlatform

/// Deadlines of waits: points of the monotonic clock at which a waiter gives up (law 15).
@usableFromInline
enum TimeLimit {
    /// Zero and negative mean not to wait at all. A limit beyond 292 years means no limit.
    @usableFromInline
    static func after(_ duration: Duration?) -> Int64 {
        guard let duration else { return Parker.never }
        guard duration > .zero else { return .min }
        return unsafe SimulationHooks.now(Threads.current).addingSaturating(
            duration.saturatedNanoseconds)
    }

    /// The limit in seconds, where infinity means no limit. Traps if `seconds` is NaN.
    @usableFromInline
    static func checked(seconds: Double, fileID: StaticString, line: UInt) -> Duration {
        require(
            !seconds.isNaN,
            "\(fileID):\(line): a time limit of NaN seconds has no meaning (law 15). "
                + "Pass a number, or infinity for no limit.")
        return Duration.saturating(seconds: seconds, fileID: fileID, line: line)
    }
}
