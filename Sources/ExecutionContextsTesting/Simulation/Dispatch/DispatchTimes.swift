internal import CSimulation

/// Maps Dispatch's times to the simulated time of one schedule.
///
/// Dispatch's clock is real, and never shows the same in two runs. So a limit such as `.now() + 60`
/// is derived from its origin: it is 60 seconds after the simulated time at which the clock was
/// read.
struct DispatchTimes {
    /// The simulated times of clock readings and sums; when there are many, the older half is
    /// dropped.
    private var meanings: (new: [UInt64: Int64], old: [UInt64: Int64]) = ([:], [:])
    private static let most = 2_048

    /// The last reading of each clock.
    private var last: [UInt32: (value: Int64, now: Int64)] = [:]

    /// The program has read a clock.
    mutating func didRead(_ time: UInt64, at now: Int64) {
        note(time, now)
        let instant = ecs_time_of(time)
        last[instant.clock.rawValue] = (instant.value, now)
    }

    /// The program has added an interval to a time.
    mutating func didAdd(_ interval: Int64, to base: UInt64, giving time: UInt64) {
        guard let start = meaning(of: base) else { return }
        let (sum, isTooFar) = start.addingReportingOverflow(interval)
        if !isTooFar { note(time, sum) }
    }

    private func meaning(of time: UInt64) -> Int64? { meanings.new[time] ?? meanings.old[time] }

    private mutating func note(_ time: UInt64, _ meaning: Int64) {
        if meanings.new.count == Self.most { meanings = ([:], meanings.new) }
        meanings.new[time] = meaning
    }

    /// The simulated time of a limit, the same for each call in a schedule.
    mutating func deadline(of limit: UInt64, at now: Int64) -> Int64 {
        let time = ecs_time_of(limit)
        switch time.kind {
        case ecs_never: return .max
        case ecs_now_itself: return now
        default:
            if let known = meaning(of: limit) { return known }
            let deadline = deadline(of: time, at: now)
            note(limit, deadline)
            return deadline
        }
    }

    /// The same for a limit of unknown origin.
    private func deadline(of time: ecs_time, at now: Int64) -> Int64 {
        let (start, real) = (ecs_clock_start(time.clock), ecs_real_time(time.clock))
        // Derived from a reading of another simulated clock, such as a date.
        if (time.value - start - now).magnitude <= (time.value - real).magnitude {
            return time.value - start
        }
        // Derived from a nanosecond reading of this clock.
        if let last = last[time.clock.rawValue], (time.value - last.value) % 1_000 == 0 {
            return last.now + time.value - last.value
        }
        // Read before the schedule began. Rounded: the clock has advanced since.
        let left = max(time.value - real, 0)
        let unit: Int64 = left > 50_000_000 ? 10_000_000 : 1_000_000
        return now + (left + unit / 2) / unit * unit
    }
}
