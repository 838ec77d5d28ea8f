import Foundation

/// A logarithmic axis that includes 1, with marks at round numbers.
struct Axis: Equatable {
    let low: Double
    let high: Double
    let marks: [Double]

    /// Makes an axis for the positive finite numbers of `numbers`. The others are ignored.
    init(for numbers: [Double]) {
        // Ratios beyond these bounds mean nothing, and clamping keeps the other bars readable.
        let shown = numbers.filter { $0.isFinite && $0 > 0 }.map { min(max($0, 1e-6), 1e9) } + [1]
        let (least, most) = (shown.min()!, shown.max()!)
        let steps: [Double] = most / least < 200 ? [1, 2, 5] : [1]
        let decades = Int(log10(least).rounded(.down)) - 1...Int(log10(most).rounded(.up)) + 1
        let all = decades.flatMap { decade in steps.map { $0 * pow(10, Double(decade)) } }.sorted()
        // Powers of ten are rounded: the tolerance keeps a number at the mark that it equals.
        let first = all.lastIndex { $0 <= least * 1.000001 } ?? 0
        var last = all.firstIndex { $0 >= most * 0.999999 } ?? all.count - 1
        if last == first { last += 1 }
        low = all[first]
        high = all[last]
        let between = Array(all[first...last])
        let stride = (between.count + 9) / 10
        // Every `stride`th mark remains, counted from 1, so that 1 remains.
        let one = between.firstIndex { abs($0 - 1) < 0.000001 } ?? 0
        marks = between.indices.filter { ($0 - one) % stride == 0 }.map { between[$0] }
    }

    /// The position of a number, from 0 at the low end to 1 at the high end.
    func place(_ number: Double) -> Double {
        if number.isNaN { return 0 }
        let clamped = min(max(number, low), high)
        return (log10(clamped) - log10(low)) / (log10(high) - log10(low))
    }
}
