import ExecutionContextsTesting

/// The state of an actor, seen or replaced between two steps of another call.
extension SeededBug {
    static let plainState: [SeededBug] = [
        notCheckedAgain, seenInTheMiddle, renewedTwice, usedBeforeStart,
    ]

    private actor Settings {
        private(set) var theme: String?

        func load(isMended: Bool) async {
            guard theme == nil else { return }
            await request()
            if isMended && theme != nil { return }
            theme = "light"
        }

        func set(_ new: String) { theme = new }
    }

    /// The stored value replaces the one that the user has set while it was read.
    static let notCheckedAgain = plain("load that does not check again", depth: 1) { isMended in
        let settings = Settings()
        async let loading: Void = settings.load(isMended: isMended)
        await settings.set("dark")
        await loading
        try await require(settings.theme == "dark", "the user's choice is lost")
    }

    private actor Ledger {
        private var (savings, cash) = (100, 0)

        var sum: Int { savings + cash }

        func transfer(_ amount: Int, isMended: Bool) async {
            if isMended { await request() }
            savings -= amount
            if !isMended { await request() }
            cash += amount
        }
    }

    /// An auditor requests the sum while a transfer is between its two halves.
    static let seenInTheMiddle = plain("sum seen in the middle of a transfer", depth: 1) {
        isMended in
        let ledger = Ledger()
        async let transfer: Void = ledger.transfer(50, isMended: isMended)
        let sum = await ledger.sum
        await transfer
        try require(sum == 100, "the auditor misses money")
    }

    private actor Server {
        private var valid = 1

        func renew(_ token: Int) throws -> Int {
            try require(token == valid, "a token is used twice, and the user logged out")
            valid += 1
            return valid
        }
    }

    private actor Session {
        private let server = Server()
        private var token = 1
        private var isExpired = true
        private var renewal: Task<Int, any Error>?

        func validToken(isMended: Bool) async throws -> Int {
            guard isExpired else { return token }
            if isMended, let renewal { return try await renewal.value }
            let task = Task { [server, token] in try await server.renew(token) }
            renewal = task
            token = try await task.value
            isExpired = false
            return token
        }
    }

    /// Two requests find the token expired, and each renews it with the same old one.
    static let renewedTwice = plain("token renewed twice", depth: 0) { isMended in
        let session = Session()
        async let feed = session.validToken(isMended: isMended)
        async let profile = later { try await session.validToken(isMended: isMended) }
        _ = try await (feed, profile)
    }

    private actor Player {
        private var isPrepared = false

        func prepare() async {
            await request()
            isPrepared = true
        }

        func play() throws { try require(isPrepared, "it plays before it is prepared") }

        static func make(isMended: Bool) async -> Player {
            let player = Player()
            let preparing = Task { await player.prepare() }
            if isMended { await preparing.value }
            return player
        }
    }

    /// The maker of an actor starts a task that prepares it, and does not wait for that task.
    static let usedBeforeStart = plain("used before its start", depth: 2) { isMended in
        let player = await Player.make(isMended: isMended)
        await later()
        try await player.play()
    }
}
