internal import CPlatform
internal import Dispatch

/// The wait of a thread that is inside a job: a circle of such waits is found (law 27).
///
/// A thread that is inside a job keeps its context busy while it waits for another context. A wait
/// that closes a circle traps: each thread in it keeps busy what another one waits for, and no wait
/// of this kind can be cancelled. A thread outside of jobs keeps nothing busy, unless it is on the
/// main queue. A simulation reports by itself that no thread can make progress.
@safe struct NestedWait {
    private let owners: Owners
    private let isForMain: Bool
    fileprivate let name: Name
    /// The frames of the thread, which last as long as the wait.
    private let frames: UnsafeMutablePointer<ec_frame>?
    /// Whether the thread is on the main queue.
    private let isMain: Bool

    /// Runs `body`, in which the caller waits until no job of the owners runs.
    ///
    /// - Parameter isForMain: whether it waits for the main queue, which a job of others may keep
    ///   busy as well.
    static func during<Result: ~Copyable, Failure: Error>(
        for owners: Owners, isForMain: Bool = false, named name: Name,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let isMain = QueueMark.isCallerOnMain
        guard unsafe ec_frame_top() != nil || isMain, SimulationHooks.current == nil else {
            return try body()
        }
        let wait = unsafe NestedWait(
            owners: owners, isForMain: isForMain, name: name, frames: ec_frame_top(),
            isMain: isMain)
        let (number, circle) = waits.withUnscheduledLock { $0.add(wait) }
        if let circle { trap(circle) }
        defer { waits.withUnscheduledLock { $0.remove(number) } }
        return try body()
    }

    /// Whose jobs the caller waits for, at most three; not a list, which would be allocated.
    @safe struct Owners {
        private let all: (Frame.Owner, Frame.Owner?, Frame.Owner?)

        init(_ first: Frame.Owner, _ second: Frame.Owner? = nil, _ third: Frame.Owner? = nil) {
            unsafe all = (first, second, third)
        }

        func contains(where isWanted: (Frame.Owner) -> Bool) -> Bool {
            unsafe isWanted(all.0) || all.1.map(isWanted) == true || all.2.map(isWanted) == true
        }
    }

    /// The name of what is waited for; that of a queue is looked up for a message only.
    enum Name {
        case text(String)
        case label(of: DispatchQueue)

        var text: String {
            switch self {
            case .text(let text): text
            case .label(let queue): queue.label
            }
        }
    }

    /// Whether this thread is inside a job that the other one waits for.
    fileprivate func keepsBusy(_ other: NestedWait) -> Bool {
        if isMain && other.isForMain { return true }
        return unsafe other.owners.contains { unsafe Frame.runs($0, from: frames) }
    }

    private static let waits = Guarded(NestedWaits())

    private static func trap(_ circle: [String]) -> Never {
        let steps = circle.indices.map { index in
            let inside = circle[index == 0 ? circle.count - 1 : index - 1]
            return "a job of '\(inside)' waits for '\(circle[index])'"
        }
        stopMisuse(
            "These waits would never end, since each is for what the next one keeps busy (law 27): "
                + "\(steps.joined(separator: ", ")). Submit the work with execute or run, or wait elsewhere."
        )
    }
}

/// The nested waits of a process. Not synchronized: its owner guards it.
private struct NestedWaits: ~Copyable {
    private var waits: [(number: UInt64, wait: NestedWait)] = []
    private var lastNumber: UInt64 = 0

    /// Adds a wait; if it closes a circle, returns what is waited for along it.
    mutating func add(_ wait: NestedWait) -> (UInt64, circle: [String]?) {
        let circle = waits.isEmpty ? nil : circle(from: wait)
        lastNumber += 1
        waits.append((lastNumber, wait))
        return (lastNumber, circle)
    }

    mutating func remove(_ number: UInt64) {
        guard let index = waits.lastIndex(where: { $0.number == number }) else { return }
        waits.swapAt(index, waits.count - 1)
        waits.removeLast()
    }

    private func circle(from first: NestedWait) -> [String]? {
        var seen: Set<UInt64> = []
        var paths = [[first]]
        while let path = paths.popLast() {
            let last = path[path.count - 1]
            if path.count > 1, first.keepsBusy(last) { return path.map(\.name.text) }
            for (number, wait) in waits where wait.keepsBusy(last) {
                if seen.insert(number).inserted { paths.append(path + [wait]) }
            }
        }
        return nil
    }
}
