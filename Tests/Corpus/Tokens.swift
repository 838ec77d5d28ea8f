import ExecutionContextsTesting
import SeededBugs

/// Tokens that one build finds and another replays.
///
/// A schedule is the same in a debug and in a release build.
enum Tokens {
    private static let seeds: ClosedRange<UInt64> = 0...4

    /// Prints a line for each failure: the bug, the token, and what it shows.
    static func print() -> Bool {
        var isRight = true
        for bug in SeededBug.all {
            for seed in seeds {
                if let failure = bug.search(seed: seed).failure, let token = failure.token {
                    Swift.print([bug.name, token, words(failure)].joined(separator: "\t"))
                } else {
                    isRight = false
                }
            }
        }
        return isRight
    }

    /// Whether each token shows in this build what it showed in the other one.
    static func replay(_ lines: String) -> Bool {
        var (all, exact) = (0, 0)
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 3, let bug = SeededBug.all.first(where: { $0.name == parts[0] })
            else {
                continue
            }
            all += 1
            let failure = bug.search(replay: parts[1]).failure
            if let failure, words(failure) == parts[2] {
                exact += 1
            } else {
                Swift.print("'\(bug)' under \(parts[1]) showed \(parts[2])")
                Swift.print("    and shows \(failure.map(words) ?? "nothing")")
            }
        }
        Swift.print("\(exact) of \(all) tokens of another build show here what they showed there.")
        return all == SeededBug.all.count * seeds.count && exact == all
    }

    /// The failure with its trace, on one line.
    ///
    /// Of tasks without it: the optimizer names functions otherwise, and leaves out changes of
    /// actor between which nothing happens.
    private static func words(_ failure: SimulationFailure) -> String {
        if failure.trace.contains(where: { $0.contains(": begins") || $0.contains("continues") }) {
            let happened = failure.happened.replacing(#/,? (started|waits) in [^;,]*/#, with: "")
            return "\(failure.kind.rawValue) | \(happened)"
        }
        return ([failure.kind.rawValue, failure.happened] + failure.trace).joined(separator: " | ")
    }
}
