/// The time of one job: the system's, which is not retained, or another.
struct JobTime: Sendable {
    /// Nil for the system's.
    private let other: (any TimeSource)?

    /// The system's.
    init() { other = nil }

    @inline(never)
    init(_ time: any TimeSource) { other = time === SystemTime.shared ? nil : time }

    /// The present instant.
    @inline(__always)
    var now: ContextInstant { other?.now ?? SystemTime.now }

    /// The identity of the time, where `system` is that of the system's.
    @inline(__always)
    func identity(_ system: ObjectIdentifier) -> ObjectIdentifier { other?.identity ?? system }
}
