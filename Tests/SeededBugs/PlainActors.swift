import ExecutionContextsTesting

/// Actors that other tasks enter while a call is suspended.
extension SeededBug {
    static let plainActors: [SeededBug] = [
        checkedBeforeAwait, checkedInOneCall, cacheStampede, countAcrossAwait, actorAsLock,
    ]

    private actor Account {
        private(set) var balance = 100

        func withdraw(_ amount: Int, isMended: Bool) async {
            if isMended { await request() }
            guard balance >= amount else { return }
            if !isMended { await request() }
            balance -= amount
        }
    }

    /// Two withdrawals find enough money, and both then wait for the bank.
    static let checkedBeforeAwait = plain("balance checked before an await", depth: 1) {
        isMended in
        let account = Account()
        async let alice: Void = account.withdraw(80, isMended: isMended)
        async let bob: Void = later { await account.withdraw(80, isMended: isMended) }
        _ = await (alice, bob)
        try await require(account.balance >= 0, "the account is overdrawn")
    }

    private actor Hall {
        private var ticket: String?

        var isFree: Bool { ticket == nil }
        func take(_ new: String) { ticket = new }

        func takeIfFree(_ new: String) -> Bool {
            guard isFree else { return false }
            take(new)
            return true
        }
    }

    /// The seat is free in one call of the actor, and taken in the next one.
    static let checkedInOneCall = plain("seat checked in one call, taken in another", depth: 2) {
        isMended in
        let hall = Hall()
        @Sendable func book(for name: String) async -> Bool {
            if isMended { return await hall.takeIfFree("ticket for \(name)") }
            guard await hall.isFree else { return false }
            // Without this line the compiler may run both calls in one visit to the actor.
            let ticket = "ticket for \(name)"
            await hall.take(ticket)
            return true
        }
        async let alice = book(for: "alice")
        async let bob = later { await book(for: "bob") }
        let booked = await [alice, bob]
        try require(booked.count { $0 } == 1, "the seat is booked twice")
    }

    private actor Images {
        private var stored: Int?
        private var loading: Task<Int, Never>?
        private(set) var loads = 0

        func image(isMended: Bool) async -> Int {
            if let stored { return stored }
            if isMended, let loading { return await loading.value }
            let task = Task { await load() }
            loading = task
            let image = await task.value
            stored = image
            return image
        }

        private func load() async -> Int {
            loads += 1
            await request()
            return 7
        }
    }

    /// Two views find the cache empty, and both load.
    static let cacheStampede = plain("cache that loads twice", depth: 0) { isMended in
        let images = Images()
        async let list = images.image(isMended: isMended)
        async let detail = later { await images.image(isMended: isMended) }
        _ = await (list, detail)
        try await require(images.loads == 1, "the image is loaded twice")
    }

    private actor Visits {
        private(set) var count = 0

        func add(isMended: Bool) async {
            if isMended {
                await request()
                count += 1
            } else {
                let old = count
                await request()
                count = old + 1
            }
        }
    }

    /// The count is read before an await, and written after it.
    static let countAcrossAwait = plain("count kept across an await", depth: 1) { isMended in
        let visits = Visits()
        await withTaskGroup { group in
            group.addTask { await visits.add(isMended: isMended) }
            group.addTask { await later { await visits.add(isMended: isMended) } }
        }
        try await require(visits.count == 2, "a visit is lost")
    }

    private actor Printer {
        private(set) var pages: [String] = []
        private var last: Task<Void, Never>?

        func print(_ name: String, isMended: Bool) async {
            guard isMended else { return await printPages(name) }
            let before = last
            let mine = Task {
                await before?.value
                await printPages(name)
            }
            last = mine
            await mine.value
        }

        private func printPages(_ name: String) async {
            for _ in 1...2 {
                pages.append(name)
                await request()
            }
        }
    }

    /// The actor is mistaken for a lock, but a call that waits for the paper admits the next one.
    static let actorAsLock = plain("actor taken for a lock", depth: 1) { isMended in
        let printer = Printer()
        async let alice: Void = printer.print("alice", isMended: isMended)
        async let bob: Void = later { await printer.print("bob", isMended: isMended) }
        _ = await (alice, bob)
        let pages = await printer.pages
        try require(pages[0] == pages[1], "the pages are mixed")
    }
}
