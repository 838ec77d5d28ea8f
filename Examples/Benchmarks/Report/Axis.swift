import Foundation

/// A logarithmic axis with 1 on it, and marks that people read easily.
struct Axis: Equatable {
    let low: Double
    let high: Double
    let marks: [Double]

    /// An axis for numbers above zero; others are left out of account.
    init(for numbers: [Double]) {
        // Beyond this nobody compares anything any more, and a chart of the rest stays readable.
        let shown = numbers.filter { $0.isFinite && $0 > 0 }.map { min(max($0, 1e-6), 1e9) } + [1]
        let (least, most) = (shown.min()!, shown.max()!)
        let steps: [Double] = most / least < 200 ? [1, 2, 5] : [1]
        let decades = Int(log10(least).rounded(.down)) - 1...Int(log10(most).rounded(.up)) + 1
        let all = decades.flatMap { decade in steps.map { $0 * pow(10, Double(decade)) } }.sorted()
        // Powers of ten are rounded; a hair of room keeps a number at the mark that it stands for.
        let first = all.lastIndex { $0 <= least * 1.000001 } ?? 0
        var last = all.firstIndex { $0 >= most * 0.999999 } ?? all.count - 1
        if last == first { last += 1 }
        low = all[first]
        high = all[last]
        let between = Array(all[first...last])
        let stride = (between.count + 9) / 10
        // Every so many, counted from 1, so that 1 stays.
        let one = between.firstIndex { abs($0 - 1) < 0.000001 } ?? 0
        marks = between.indices.filter { ($0 - one) % stride == 0 }.map { between[$0] }
    }

    /// Where a number stands, from 0 at the low end to 1 at the high one.
    func place(_ number: Double) -> Double {
        if number.isNaN { return 0 }
        let held = min(max(number, low), high)
        return (log10(held) - log10(low)) / (log10(high) - log10(low))
    }
}
