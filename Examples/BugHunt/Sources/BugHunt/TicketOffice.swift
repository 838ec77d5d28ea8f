import ExecutionContexts
import ExecutionContextsTesting

/// Should sell each seat once.
protocol TicketOffice: Sendable {
    /// Reserves a seat; false if it is taken.
    func reserve(_ seat: Int) -> Bool
}

/// Checks whether a seat is free, then takes it in a second access.
struct CarelessOffice: TicketOffice {
    let taken: LockedResource<Set<Int>>

    func reserve(_ seat: Int) -> Bool {
        if taken.read({ $0.contains(seat) }) { return false }
        taken.mutate { _ = $0.insert(seat) }
        return true
    }
}

/// Checks and takes a seat in one access.
struct CarefulOffice: TicketOffice {
    let taken: LockedResource<Set<Int>>

    func reserve(_ seat: Int) -> Bool { taken.mutate { $0.insert(seat).inserted } }
}

/// An office with one customer at a time.
struct OfficeModel: SequentialModel, Hashable {
    enum Operation: Sendable { case reserve(Int) }
    private var taken: Set<Int> = []
    init() {}

    mutating func apply(_ operation: Operation) -> Bool {
        switch operation {
        case .reserve(let seat): taken.insert(seat).inserted
        }
    }
}

/// Runs three customers and two seats under one schedule after another.
func hunt(isMended: Bool, replay token: String? = nil) -> SimulationReport {
    search("ticket office", replay: token) { sim in
        let seats = ReadWriteCoordinator(name: "seats", writesOn: sim.serial(named: "writes"))
        let taken = LockedResource<Set<Int>>([], lockedBy: .coordinator(seats))
        let office: any TicketOffice =
            isMended ? CarefulOffice(taken: taken) : CarelessOffice(taken: taken)
        let history = History(of: OfficeModel())
        for (name, seats) in [("alice", [7, 8]), ("bob", [8, 7]), ("carol", [7])] {
            sim.spawn(name) {
                for seat in seats { history.record(.reserve(seat)) { office.reserve(seat) } }
            }
        }
        sim.expectLinearizable(history)
    }
}
