import ExecutionContextsTesting

/// Should sell each seat once: ordinary Swift, without contexts.
actor BoxOffice {
    private var sold: Set<Int> = []
    private let bank = Bank()
    private let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    /// Sells a seat; false if it is sold.
    func sell(_ seat: Int) async -> Bool {
        if sold.contains(seat) { return false }
        if isMended { sold.insert(seat) }
        // While the bank answers, the office serves the next customer.
        await bank.charge(20)
        if !isMended { sold.insert(seat) }
        return true
    }
}

actor Bank {
    private var sum = 0

    func charge(_ amount: Int) { sum += amount }
}

struct SoldTwice: Error {}

/// Sells one seat to two customers under one schedule after another.
func huntInActor(isMended: Bool, replay token: String? = nil) async -> SimulationReport {
    await search("box office", replay: token) { _ in
        let office = BoxOffice(isMended: isMended)
        async let alice = office.sell(7)
        async let bob = office.sell(7)
        let sold = await (alice, bob)
        if sold == (true, true) { throw SoldTwice() }
    }
}
