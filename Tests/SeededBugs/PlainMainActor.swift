import ExecutionContextsTesting

/// Models of the main actor that are used again while a request is under way.
extension SeededBug {
    static let plainMainActor: [SeededBug] = [
        modelLoadsTwice, staleResult, spinnerOfOldLoad, rowAcrossAwait,
    ]

    @MainActor private final class Feed {
        private(set) var loads = 0
        private var posts: [Int] = []
        private var isLoading = false

        func load(isMended: Bool) async {
            guard posts.isEmpty, !(isMended && isLoading) else { return }
            isLoading = true
            loads += 1
            await request()
            posts = [1]
            isLoading = false
        }
    }

    /// The view appears, and the user pulls to refresh, before the first load has ended.
    static let modelLoadsTwice = plain("model that loads twice", depth: 1) { isMended in
        let feed = Feed()
        async let appearing: Void = feed.load(isMended: isMended)
        async let pulling: Void = later { await feed.load(isMended: isMended) }
        _ = await (appearing, pulling)
        try await require(feed.loads == 1, "the feed is loaded twice")
    }

    @MainActor private final class SearchModel {
        private var query = ""
        private(set) var result = ""

        func type(_ text: String, isMended: Bool) -> Task<Void, Never> {
            query = text
            return Task(name: text) {
                await request()
                if isMended && query != text { return }
                result = text
            }
        }
    }

    /// The answer for the first letter comes after the answer for two letters.
    static let staleResult = plain("stale result replaces a newer one", depth: 3) { isMended in
        let model = SearchModel()
        let tasks = [
            await model.type("s", isMended: isMended), await model.type("sw", isMended: isMended),
        ]
        for task in tasks { await task.value }
        try await require(model.result == "sw", "the result is for an older query")
    }

    @MainActor private final class Player {
        private var (isLoading, song) = (false, "")
        private var loads = 0

        func play(_ new: String, isMended: Bool) async {
            isLoading = true
            loads += 1
            let mine = loads
            await request()
            if !isMended || mine == loads { isLoading = false }
            if mine == loads { song = new }
        }

        /// Whether neither a spinner nor a song is shown, though a song was requested.
        var isBlank: Bool { loads > 0 && !isLoading && song.isEmpty }
    }

    /// The end of an older load hides the spinner of a newer one.
    static let spinnerOfOldLoad = plain("spinner hidden by an older load", depth: 1) { isMended in
        let player = Player()
        async let old: Void = player.play("old", isMended: isMended)
        async let new: Void = player.play("new", isMended: isMended)
        for _ in 1...4 {
            try await require(!player.isBlank, "neither a spinner nor a song is shown")
        }
        _ = await (old, new)
    }

    @MainActor private final class Inbox {
        private(set) var mails = ["a", "b", "c"]

        func delete(_ mail: String, isMended: Bool) async {
            guard let row = mails.firstIndex(of: mail) else { return }
            await request()
            if isMended { mails.removeAll { $0 == mail } } else { mails.remove(at: row) }
        }
    }

    /// The row of a mail is found before an await, and another mail is deleted meanwhile.
    static let rowAcrossAwait = plain("row kept across an await", depth: 1) { isMended in
        let inbox = Inbox()
        async let first: Void = inbox.delete("a", isMended: isMended)
        async let second: Void = later { await inbox.delete("b", isMended: isMended) }
        _ = await (first, second)
        try await require(inbox.mails == ["c"], "another mail is deleted")
    }
}
