/// What a program has used although the search does not control it, or only in part.
package struct Uncontrolled: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A `Mutex` for which a thread had to wait, so that several share it.
    static let mutex = Uncontrolled(rawValue: 1)
    /// Dispatch, where that is not simulated.
    static let dispatch = Uncontrolled(rawValue: 2)
    /// A thread that is not the simulation's.
    static let thread = Uncontrolled(rawValue: 4)

    /// What it was, and how to have it searched.
    package var text: String {
        let texts = [
            (
                Self.mutex,
                "a Mutex from several threads: a SimulatedMutex or an NSLock is a point also where it is free"
            ),
            (
                Self.dispatch,
                "Dispatch, which this process does not simulate: EXECUTION_CONTEXTS_DISPATCH is 0, or its layout is not known"
            ),
            (
                Self.thread,
                "a thread of its own: start it by 'spawn' or 'Thread.detachNewThread', or use a task"
            ),
        ]
        return "The program uses "
            + texts.filter { contains($0.0) }.map(\.1).joined(separator: ", and ")
    }
}
