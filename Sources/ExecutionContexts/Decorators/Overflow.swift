/// What a bounded view does with work for which there is no room.
///
/// `tryExecute` throws, `run` and `submit` resolve with a refusal. Plain `execute` cannot say no, so each
/// policy states what it does then (law 1).
public struct Overflow: Sendable {
    enum Kind: Sendable {
        case refuse, callerRuns, wait
        case dropOldest(notify: @Sendable (Refusal) -> Void)
    }

    let kind: Kind

    /// Refuses it. Plain `execute` stops the program: use `tryExecute`, `run` or `submit`.
    public static let refuse = Overflow(kind: .refuse)

    /// Runs it on the caller, which slows the caller down. Not for contexts that keep an order (law 8).
    public static let callerRuns = Overflow(kind: .callerRuns)

    /// Drops the piece that has waited longest and takes the new one.
    ///
    /// Delayed work that is due, and the turn of a view over this one, have been accepted before: they are not dropped.
    /// A dropped `run` or `submit` resolves with the refusal; for any other piece `notify` is called, on
    /// the one who submitted the newer work. Never silence (law 1).
    public static func dropOldest(notify: @escaping @Sendable (Refusal) -> Void) -> Overflow {
        Overflow(kind: .dropOldest(notify: notify))
    }

    /// Lets an awaited `run` wait for room, without a thread. `tryExecute` throws; plain `execute` stops
    /// the program. Those who wait come in turn, after delayed work that is due.
    public static let wait = Overflow(kind: .wait)
}

/// What a bounded view of a serial context does with work for which there is no room.
///
/// Every policy of `Overflow` but `callerRuns`: what runs on the caller would run beside the piece that
/// the context is running (laws 2, 8).
public struct SerialOverflow: Sendable {
    let policy: Overflow

    /// Refuses it. Plain `execute` stops the program: use `tryExecute`, `run` or `submit`.
    public static let refuse = SerialOverflow(policy: .refuse)

    /// Drops the piece that has waited longest and takes the new one; see `Overflow`.
    public static func dropOldest(notify: @escaping @Sendable (Refusal) -> Void) -> SerialOverflow {
        SerialOverflow(policy: .dropOldest(notify: notify))
    }

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = SerialOverflow(policy: .wait)
}

/// What a bounded view of a context with barriers does with work for which there is no room.
///
/// Neither `callerRuns` nor `dropOldest`: both could carry a piece past a barrier (laws 3, 8).
public struct BarrierOverflow: Sendable {
    let policy: Overflow

    /// Refuses it. Plain `execute` stops the program: use `tryExecute`, `run` or `submit`.
    public static let refuse = BarrierOverflow(policy: .refuse)

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = BarrierOverflow(policy: .wait)
}
