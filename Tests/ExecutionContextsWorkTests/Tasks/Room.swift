/// What a searched program throws when a law is broken.
struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// How many tasks are inside at a time; not a scheduling point.
struct Room {
    let inside = Box(0)
    let limit: Int

    func visit() async throws {
        let count = inside.withValue { count -> Int in
            count += 1
            return count
        }
        if count > limit { throw Wrong("\(count) tasks are inside, for a limit of \(limit)") }
        await Task.yield()
        inside.withValue { $0 -= 1 }
    }
}
