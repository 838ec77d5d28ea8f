/// A context made of a closure: the shortest way to a context of your own.
///
/// ```swift
/// let context = ClosureContext(name: "loop") { work in eventLoop.post(work) }
/// ```
///
/// The closure must run the work it is given, once (law 1). Nothing more is known of the context:
/// `isCurrent` is nil unless you pass a second closure for it.
public struct ClosureContext: ExecutionContext {
    private let submit: @Sendable (_ work: @escaping Work) -> Void
    private let whereAmI: @Sendable () -> Bool?

    public let name: String

    /// Makes a context of a closure that runs the work it is given, and one that knows where the
    /// caller is.
    public init(
        name: String = "closure", isCurrent: @escaping @Sendable () -> Bool? = { nil },
        execute: @escaping @Sendable (_ work: @escaping Work) -> Void
    ) {
        self.name = name
        whereAmI = isCurrent
        submit = execute
    }

    public func execute(_ work: @escaping Work) { submit(work) }

    public var isCurrent: Bool? { whereAmI() }
}

extension ExecutionContext where Self == ClosureContext {
    /// A context made of a closure that runs the work it is given.
    ///
    /// For a parameter of type `some ExecutionContext`, mark the closure as sendable:
    /// `.closure { @Sendable work in ... }`.
    /// `ClosureContext(name: "name") { work in ... }` needs no such mark.
    public static func closure(
        named name: String = "closure",
        _ execute: @escaping @Sendable (_ work: @escaping Work) -> Void
    ) -> ClosureContext {
        ClosureContext(name: name, execute: execute)
    }
}
