internal import CAccesses
internal import CSimulation
internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

// Accesses of memory on a host thread, of code that tells them.
extension HostThread {
    /// This thread is about to access an atomic; returns what that is to the schedule.
    func willAccess(
        _ atomic: Word, _ kind: ecs_access_kind, isTotal: Bool, in code: UInt
    ) -> ecs_access_role {
        guard let thread, let scheduler, scheduler.phase != .over else { return ecs_unseen }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard AccessingCode.isOfProgram(code) else { return ecs_unseen }
        guard thread.undivided == 0 else { return ecs_quiet }
        scheduler.willAccess(
            atomic, kind == ecs_load ? .reads : .writes, isTotal: isTotal, in: code, by: thread)
        return ecs_seen
    }

    /// This thread is about to pass a fence that is ordered with all sequentially consistent
    /// operations.
    func willFence(in code: UInt) {
        guard let thread, let scheduler, thread.undivided == 0 else { return }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard AccessingCode.isOfProgram(code), scheduler.phase != .over else { return }
        scheduler.point(thread)
        scheduler.log?.add(.writes, .fences)
    }

    /// Whether a load of an atomic returns an earlier value than the one asked about before.
    func loadsEarlier(_ atomic: Word) -> Bool {
        guard let thread, let scheduler, scheduler.phase == .running else { return false }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        let name = scheduler.names.name(of: atomic) ?? "an atomic"
        return scheduler.decides("an earlier value of '\(name)'", thread)
    }

    /// This thread has done so; the values are those before and after.
    func didAccess(
        _ atomic: Word, _ kind: ecs_access_kind, _ before: UInt64, _ after: UInt64,
        version: UInt32, in code: UInt
    ) {
        guard let thread, let scheduler else { return }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        if kind == ecs_load {
            scheduler.didLoad(atomic, version, in: code, thread)
        } else {
            scheduler.didStore(atomic, thread)
        }
        guard let trace = scheduler.trace else { return }
        let name = scheduler.names.name(of: atomic) ?? "an atomic"
        if kind == ecs_load {
            trace.add(thread, .reads(name, "\(after)"))
        } else {
            trace.add(thread, .writes(name, "\(before)", "\(after)"))
        }
    }

    /// Nothing orders two accesses of a variable, the later of which is this thread's.
    func didRace(_ variable: Word, _ access: ecs_access, _ earlier: ecs_access) {
        guard let thread, let scheduler, scheduler.phase == .running else { return }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        scheduler.didRace(thread, variable, access, earlier)
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
    func willAccess(
        _ atomic: Word, _ kind: Access.Kind, isTotal: Bool, in code: UInt,
        by thread: SimulatedThread
    ) {
        if names.name(of: atomic) == nil {
            names.add(atomic, trace.flatMap { _ in VariableName.of(atomic) } ?? "an atomic")
        }
        let intent = Intent(kind, atomic)
        if repeats(thread, atomic, in: code) {
            waitForChange(thread, for: intent)
        } else {
            point(thread, for: intent)
        }
        log?.add(kind, atomic)
        // A sequentially consistent fence orders all of them.
        if isTotal { log?.add(.reads, .fences) }
    }

    /// Whether a thread is where it was, in the same state, and nothing has changed that it has
    /// loaded since: it is in a loop that waits for another thread.
    private func repeats(_ thread: SimulatedThread, _ atomic: Word, in code: UInt) -> Bool {
        thread.loopState = 0
        let didWrite = ecs_order_did_write()
        if didWrite || thread.lastPoll != thread.operations || thread.isOfTasks || thread.isInXCTest
            || thread.polls.count == Self.mostPolls
        {
            // It has done anything else. A task also has variables that are not on its stack.
            thread.polls = []
            return false
        }
        guard phase == .running,
            let last = thread.polls.lastIndex(where: { $0.code == code && $0.atomic == atomic })
        else { return false }
        thread.polls.removeFirst(last)
        if hasChanged(thread.polls) { return false }
        thread.loopState = ecs_order_state(code)
        return thread.loopState != 0 && thread.loopState == thread.polls[0].state
    }

    /// How many atomics a loop may load.
    private static let mostPolls = 100

    private func hasChanged(_ polls: [SimulatedThread.Poll]) -> Bool {
        polls.contains {
            unsafe ecs_order_version($0.atomic.pointer) != $0.version || $0.version == 0
        }
    }

    /// Whether a thread's loop that waits may do anything else: an atomic has changed, or the time.
    func hasChange(for thread: SimulatedThread) -> Bool {
        thread.isChanged || isFair || now != thread.waitTime || hasChanged(thread.polls)
    }

    func didLoad(
        _ atomic: Word, _ version: UInt32, in code: UInt, _ thread: SimulatedThread
    ) {
        thread.lastPoll = thread.operations
        thread.polls.append(
            SimulatedThread.Poll(
                atomic: atomic, code: code, version: version, state: thread.loopState))
    }

    func didStore(_ atomic: Word, _ thread: SimulatedThread) {
        thread.polls = []
        guard lockWaiters != 0 else { return }
        for other in threads where lockWaiters & 1 << UInt64(other.id) != 0 {
            guard case .change = other.wait, !other.isChanged, now == other.waitTime,
                other.polls.contains(where: { $0.atomic == atomic })
            else { continue }
            other.isChanged = true
            log?.cause(other.id)
        }
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
    func didRace(
        _ thread: SimulatedThread, _ variable: Word, _ access: ecs_access, _ earlier: ecs_access
    ) {
        let other = threads[Int(earlier.thread)].name
        let isFirst = failure == nil
        fail(
            .dataRace,
            "'\(thread.name)' \(access.is_write ? "writes" : "reads") a variable that '\(other)' has \(earlier.is_write ? "written" : "read"), "
                + "and nothing puts the two in order. Guard it with a lock, a serial context or an actor, or pass it on by a releasing "
                + "store and an acquiring load (law 33).",
            locations: [
                (thread.name, CallerLocation(of: UInt(access.code))),
                (other, CallerLocation(of: UInt(earlier.code))),
            ])
        if isFirst, failure != nil { trace?.variable = VariableName.of(variable) }
    }
}

/// The name of a variable, by its address: "Account.balance" of a stored property.
enum VariableName {
    private static let known = Locked<[Word: String?]>([:])

    static func of(_ variable: Word) -> String? {
        var names: (type: UnsafePointer<CChar>?, field: UnsafePointer<CChar>?)
        if unsafe ecs_field(variable.pointer, &names.type, &names.field),
            let type = unsafe names.type, let field = unsafe names.field
        {
            return unsafe "\(String(cString: type)).\(String(cString: field))"
        }
        if let known = known.withLock({ $0[variable] }) { return known }
        let name = unsafe CodeSymbols.variable(at: UInt(bitPattern: variable.pointer))
        known.withLock { $0[variable] = .some(name) }
        return name
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
