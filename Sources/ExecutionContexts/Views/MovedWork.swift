/// A job inside a closure that may be copied.
///
/// `run` frees the job at once, whatever copies of the closure remain (law 10).
final class MovedWork: @unchecked Sendable {
    // Unchecked: `run` is called once, and no other code accesses `work` before.
    private var work: Work?

    init(_ work: consuming @escaping Work) { self.work = consume work }

    func run() throws(Never) { work.take()?() }
}
