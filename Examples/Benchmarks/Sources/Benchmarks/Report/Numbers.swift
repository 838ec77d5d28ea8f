import Foundation

extension Double {
    /// A ratio with its significant digits.
    var asRatio: String {
        guard isFinite else { return "-" }
        switch abs(self) {
        case 0: return "0"
        case ..<0.001: return String(format: "%.1e", self)
        case ..<1: return String(format: "%.2g", self)
        case ..<10: return String(format: "%.2f", self)
        case ..<100: return String(format: "%.1f", self)
        case ..<1_000_000: return String(format: "%.0f", self)
        default: return String(format: "%.1e", self)
        }
    }

    /// Nanoseconds with their significant digits.
    var asNanoseconds: String {
        guard isFinite else { return "-" }
        return String(format: abs(self) < 10 ? "%.1f" : "%.0f", self)
    }

    /// A mark on an axis, without trailing zeros.
    var asMark: String {
        abs(self) >= 0.001 && abs(self) < 1_000_000
            ? String(format: "%g", self) : String(format: "%.0e", self)
    }
}
