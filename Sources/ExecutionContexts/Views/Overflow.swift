/// What a bounded view does with a job for which it has no room.
///
/// `tryExecute` throws; `run` and `submit` resolve with a refusal. Plain `execute` cannot refuse,
/// so each policy states what it does then (law 1).
public struct Overflow: Sendable {
    enum Kind: Sendable {
        case refuse, callerRuns, wait
        case dropOldest(notify: @Sendable (Refusal) -> Void)
    }

    let kind: Kind

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = Overflow(kind: .refuse)

    /// Runs the job on its submitter, which slows the submitter down.
    ///
    /// Not for contexts that keep an order (law 8).
    public static let callerRuns = Overflow(kind: .callerRuns)

    /// Drops the job that has waited longest and accepts the new one.
    ///
    /// A delayed job that is due, and a drain of a view over this one, were accepted before: they
    /// are not dropped. A dropped `run` or `submit` resolves with the refusal. For any other
    /// dropped job the submitter of the newer one calls `notify`: no job is dropped in silence
    /// (law 1).
    public static func dropOldest(notify: @escaping @Sendable (Refusal) -> Void) -> Overflow {
        Overflow(kind: .dropOldest(notify: notify))
    }

    /// Lets an awaited `run` wait for room, without a thread.
    ///
    /// `tryExecute` throws; plain `execute` traps with a message. Waiting jobs enter in the order
    /// of submission, after delayed jobs that are due.
    public static let wait = Overflow(kind: .wait)
}

/// What a bounded view of a serial context does with a job for which it has no room.
///
/// Every policy of `Overflow` except `callerRuns`: a job that runs on its submitter would run
/// beside the running job of the context (laws 2, 8).
public struct SerialOverflow: Sendable {
    @usableFromInline
    let policy: Overflow

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = SerialOverflow(policy: .refuse)

    /// Drops the job that has waited longest and accepts the new one; see `Overflow`.
    public static func dropOldest(notify: @escaping @Sendable (Refusal) -> Void) -> SerialOverflow {
        SerialOverflow(policy: .dropOldest(notify: notify))
    }

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = SerialOverflow(policy: .wait)
}

/// What a bounded view of a context with barriers does with a job for which it has no room.
///
/// Neither `callerRuns` nor `dropOldest`: both could carry a job past a barrier (laws 3, 8).
public struct BarrierOverflow: Sendable {
    @usableFromInline
    let policy: Overflow

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = BarrierOverflow(policy: .refuse)

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = BarrierOverflow(policy: .wait)
}
