internal import CAccesses
internal import CSimulation
internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

// Accesses of memory on a host thread, of code that tells them.
extension HostThread {
    /// This thread is about to access an atomic; false if that is no matter of the schedule.
    func willAccess(_ atomic: Word, _ kind: ecs_access_kind, in code: UInt) -> Bool {
        guard let thread, let scheduler, thread.undivided == 0 else { return false }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard AccessingCode.isOfProgram(code) else { return false }
        return scheduler.willAccess(atomic, kind == ecs_load ? .reads : .writes, by: thread)
    }

    /// This thread has done so; the values are those before and after.
    func didAccess(_ atomic: Word, _ kind: ecs_access_kind, _ before: UInt64, _ after: UInt64) {
        guard let thread, let scheduler, let trace = scheduler.trace else { return }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        let name = scheduler.names.name(of: atomic) ?? "an atomic"
        if kind == ecs_load {
            trace.add(thread, .reads(name, "\(after)"))
        } else {
            trace.add(thread, .writes(name, "\(before)", "\(after)"))
        }
    }

    /// Nothing orders two accesses of a variable, the later of which is this thread's.
    func didRace(_ access: ecs_access, _ earlier: ecs_access) {
        guard let thread, let scheduler, scheduler.phase == .running else { return }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        scheduler.didRace(thread, access, earlier)
    }

    /// The eight bytes with an atomic are gone, and so is its number.
    func didFreeAtomic(_ word: Word) {
        guard !HiddenFromSanitizer.isActive, let scheduler, scheduler.phase != .over else { return }
        HiddenFromSanitizer.begin()
        for byte in 0..<UInt(8) { scheduler.didFree(word + byte) }
        HiddenFromSanitizer.end()
    }
}

extension SimulationScheduler {
    /// A thread is about to access an atomic, at a scheduling point.
    func willAccess(_ atomic: Word, _ kind: Access.Kind, by thread: SimulatedThread) -> Bool {
        guard phase != .over else { return false }
        if names.name(of: atomic) == nil { names.add(atomic, "an atomic") }
        point(thread, for: Intent(kind, atomic))
        log?.add(kind, atomic)
        return true
    }

    /// A thread has resumed a continuation. A task that has not suspended yet continues without a
    /// call that the simulation could see, and follows it.
    func passToRunningTasks(from thread: SimulatedThread) {
        guard let order = hosts.order else { return }
        var running = tasks.begun & ~(1 << UInt64(thread.id))
        while running != 0 {
            order.pass(to: threads[running.trailingZeroBitCount])
            running &= running - 1
        }
    }

    /// Reports two accesses of a variable that nothing orders.
    func didRace(_ thread: SimulatedThread, _ access: ecs_access, _ earlier: ecs_access) {
        let other = threads[Int(earlier.thread)].name
        fail(
            .dataRace,
            "'\(thread.name)' \(access.is_write ? "writes" : "reads") a variable that '\(other)' has \(earlier.is_write ? "written" : "read"), "
                + "and nothing puts the two in order. Guard it with a lock, a serial context or an actor, or pass it on by a releasing "
                + "store and an acquiring load (law 33).",
            locations: [
                (thread.name, CallerLocation(of: UInt(access.code))),
                (other, CallerLocation(of: UInt(earlier.code))),
            ])
    }
}

/// Code that accesses memory, by its address.
enum AccessingCode {
    private static let known = Locked<[UInt: Bool]>([:])

    /// Whether it was written in the program. What the compiler adds keeps what it has looked up in
    /// atomics of its own.
    static func isOfProgram(_ code: UInt) -> Bool {
        if let known = known.withLock({ $0[code] }) { return known }
        let isOfProgram = !CodeSymbols.findsMetadata(at: code)
        known.withLock { $0[code] = isOfProgram }
        return isOfProgram
    }
}
