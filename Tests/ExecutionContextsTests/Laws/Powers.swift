import ExecutionContexts
import Testing

/// What a decorator does with one power of its base.
enum Power: Sendable {
    case kept, always, never

    func holds(_ baseHas: Bool) -> Bool {
        switch self {
        case .kept: baseHas
        case .always: true
        case .never: false
        }
    }
}

/// One row of the table of law 8: which powers of its base a decorator keeps.
struct Powers: Sendable, CustomTestStringConvertible {
    let decorator: Decorator
    let serial: Power
    let barrier: Power
    /// Whether it has `sync`; it has `syncBarrier` if its base has and it has barriers.
    let synchronous: Power
    let refusing: Power
    /// Whether it has a queue of its own, and so is a context of its own.
    let hasOwnQueue: Bool
    let name: @Sendable (_ base: any ExecutionContext) -> String

    /// Whether it keeps its jobs itself and submits only drains to its base.
    var keepsItsJobs: Bool { hasOwnQueue || decorator.name == Decorator.dropping.name }

    init(
        _ decorator: Decorator, serial: Power, barrier: Power, synchronous: Power, refusing: Power,
        hasOwnQueue: Bool = false,
        name: @escaping @Sendable (_ base: any ExecutionContext) -> String = { $0.name }
    ) {
        self.decorator = decorator
        self.serial = serial
        self.barrier = barrier
        self.synchronous = synchronous
        self.refusing = refusing
        self.hasOwnQueue = hasOwnQueue
        self.name = name
    }

    var testDescription: String { decorator.name }

    static let table: [Powers] =
        [
            Powers(
                .serial, serial: .always, barrier: .always, synchronous: .always, refusing: .never,
                hasOwnQueue: true, name: { _ in "serial view" }),
            Powers(
                .limited, serial: .never, barrier: .always, synchronous: .never, refusing: .never,
                hasOwnQueue: true, name: { "\($0.name).limited(2)" }),
            Powers(
                .barrier, serial: .never, barrier: .always, synchronous: .never, refusing: .never,
                hasOwnQueue: true, name: { "\($0.name).barrier" }),
            Powers(
                .refusing, serial: .kept, barrier: .kept, synchronous: .never, refusing: .always),
            Powers(
                .dropping, serial: .kept, barrier: .kept, synchronous: .never, refusing: .always),
            Powers(.waiting, serial: .kept, barrier: .kept, synchronous: .never, refusing: .always),
            Powers(
                .callerRuns, serial: .never, barrier: .never, synchronous: .never, refusing: .always
            ),
            Powers(
                .whileValid, serial: .kept, barrier: .kept, synchronous: .never, refusing: .always),
        ] + Decorator.additions.map { keeping($0) }

    private static func keeping(_ decorator: Decorator) -> Powers {
        Powers(
            decorator, serial: .kept, barrier: .kept, synchronous: .kept, refusing: .kept,
            name: { decorator.viewName ?? $0.name })
    }

    /// A serial context keeps barriers already: its barrier view is itself.
    private static let barrierOfSerial = keeping(.barrier)

    /// The row that holds over this base.
    func over(_ base: any ExecutionContext) -> Powers {
        decorator.name == Decorator.barrier.name && base is any SerialContext
            ? Self.barrierOfSerial : self
    }
}
