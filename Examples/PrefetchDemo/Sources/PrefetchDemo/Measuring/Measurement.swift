import ExecutionContexts

/// The samples of several rounds with the same number of images and the same contexts.
struct Measurement {
    let count: Int
    let arrangement: Arrangement
    let samples: [Sample]

    var submissions: ClosedRange<Int> {
        samples.map(\.submissions).min()!...samples.map(\.submissions).max()!
    }
    var wall: Duration { median(\.wall) }
    var caller: Duration { median(\.caller) }
    var hold: Duration { median(\.hold) }

    private func median(_ value: (Sample) -> Duration) -> Duration {
        samples.map(value).sorted()[samples.count / 2]
    }

    /// Whether both counts are equal in each round; nil if only one of them exists.
    var agrees: Bool? {
        samples.contains { $0.entries == nil }
            ? nil : samples.allSatisfy { $0.entries == $0.submissions }
    }

    /// The difference of Dispatch's count from the observer's, in the worst round.
    var difference: Int {
        samples.map { sample in (sample.entries ?? sample.submissions) - sample.submissions }.max {
            abs($0) < abs($1)
        }!
    }
}

/// One comparison: the same images prefetched with private contexts and with a shared one.
struct Comparison {
    let title: String
    let rounds: Int
    /// The expected number of submissions, as text and in numbers.
    let claim: (Arrangement) -> (words: String, count: (Int) -> ClosedRange<Int>)
    let sample: (Arrangement, Int) throws -> Sample

    /// Measures and prints a table. Returns one message for each unexpected count.
    func run(_ counts: [Int]) throws -> [String] {
        print("\n\(title), in \(rounds) rounds\n")
        print(
            row(
                "N", "contexts", "submissions", "expected", "at Dispatch", "wall", "caller",
                "longest hold"))
        var faults: [String] = []
        for count in counts {
            let measurements = try measure(count)
            for measurement in measurements {
                let claim = claim(measurement.arrangement)
                show(measurement, claim.words)
                faults += wrong(in: measurement, claim.count(count))
            }
        }
        return faults
    }

    /// Alternates between the arrangements, so that other load on the machine affects both.
    private func measure(_ count: Int) throws -> [Measurement] {
        var samples: [Arrangement: [Sample]] = [:]
        for _ in 0..<rounds {
            for arrangement in Arrangement.allCases {
                samples[arrangement, default: []].append(try sample(arrangement, count))
            }
        }
        return Arrangement.allCases.map {
            Measurement(count: count, arrangement: $0, samples: samples[$0]!)
        }
    }

    private func show(_ seen: Measurement, _ claim: String) {
        let (least, most) = (seen.submissions.lowerBound, seen.submissions.upperBound)
        print(
            row(
                "\(seen.count)", seen.arrangement.name,
                least == most ? "\(least)" : "\(least)-\(most)",
                claim,
                seen.agrees.map { $0 ? "the same" : "off by \(seen.difference)" } ?? "not counted",
                seen.wall.short, seen.caller.short, seen.hold.short))
    }

    private func wrong(in seen: Measurement, _ expected: ClosedRange<Int>) -> [String] {
        var faults: [String] = []
        let what = "\(title): with \(seen.count) images and contexts \(seen.arrangement.name)"
        if seen.submissions.clamped(to: expected) != seen.submissions {
            faults.append(
                "\(what), \(seen.submissions) submissions were counted, \(expected) are expected.")
        }
        if seen.agrees == false {
            faults.append(
                "\(what), Dispatch counted \(seen.difference) submissions more than the observer.")
        }
        return faults
    }
}

private func row(_ first: String, _ second: String, _ others: String...) -> String {
    let widths = [13, 12, 13, 11, 11, 14]
    return "  " + first.leftPadded(5) + "  " + second.padded(10)
        + zip(others, widths).map { $0.leftPadded($1) }.joined()
}

extension Duration {
    /// The duration in a few characters.
    var short: String {
        let microseconds = Double(inNanoseconds) / 1_000
        return if microseconds < 10 {
            "\((microseconds * 10).rounded() / 10) us"
        } else if microseconds < 10_000 {
            "\(Int(microseconds.rounded())) us"
        } else {
            "\((microseconds / 100).rounded() / 10) ms"
        }
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
    fileprivate func leftPadded(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
