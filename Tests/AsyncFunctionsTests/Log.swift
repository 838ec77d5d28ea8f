/// Entries, in the order in which they were added.
final class Log: Sendable {
    private let stored = Box<[String]>([])
    var entries: [String] { stored.value }
    func add(_ entry: String) { stored.withValue { $0.append(entry) } }
}
