/// Prints what each shape costs, by the number of workers.
public enum Table {
    public static let sizes = [4, 8, 16, 32, 64]

    public static func print(seed: UInt64, of shapes: [Shape]) {
        Swift.print(
            "Per operation, in steady state: cache lines that move, threads woken, barriers.")
        for shape in shapes {
            Swift.print("\n\(shape), for each \(shape.unit)")
            Swift.print("  workers    lines    wakes  barriers    the line that moves most")
            for workers in sizes {
                let outcome = shape.outcome(workers: workers, seed: seed)
                let figures = [
                    "\(workers)".padded(9), outcome.transfers.text.padded(9),
                    outcome.wakes.text.padded(9), outcome.barriers.text.padded(10),
                ].joined()
                let line =
                    outcome.hottestTransfers == 0
                    ? "none"
                    : "\(outcome.hottestTransfers.text) \(outcome.hottest), \(outcome.hottestSite)"
                Swift.print("\(figures)    \(line)")
            }
        }
    }
}

extension Double {
    /// With two decimals.
    var text: String {
        let hundredths = Int((self * 100).rounded())
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        return "\(whole)." + (rest < 10 ? "0\(rest)" : "\(rest)")
    }
}

extension String {
    func padded(_ width: Int) -> String {
        String(repeating: " ", count: max(width - count, 0)) + self
    }
}
