internal import CAccesses
internal import CSimulation
internal import ExecutionContexts

/// What orders the accesses of memory in a search, of code that the compiler lets tell them.
///
/// The thread that owns the scheduler token uses it.
@safe final class AccessOrder {
    private let order: OpaquePointer

    /// Nil where no code of the program tells its accesses.
    init?() {
        guard ecs_tells_accesses() else { return nil }
        Self.setHooks
        unsafe order = ecs_order_new()
    }

    deinit { unsafe ecs_order_free(order) }

    /// Begins a schedule.
    func restart() { unsafe ecs_order_restart(order) }

    /// Whether two threads have accessed the same memory, in any schedule.
    var hasShared: Bool { unsafe ecs_order_has_shared(order) }

    /// The calling host runs a thread, until it leaves.
    func enter(_ thread: SimulatedThread, on host: HostThread) {
        // The host's own system thread keeps the host until it has left.
        unsafe ecs_order_enter(
            order, Unmanaged.passUnretained(host).toOpaque(), UInt32(thread.id), host.systemNumber,
            ecs_stack_end())
    }

    static func leave() { ecs_order_leave() }

    /// The calling thread uses an object that passes on what its users know.
    func use(_ kind: Access.Kind, _ word: Word) {
        if kind != .releases { unsafe ecs_order_acquire(word.pointer) }
        if kind == .writes || kind == .releases { unsafe ecs_order_release(word.pointer) }
    }

    /// What the calling thread has done precedes what another one does next.
    func pass(to thread: SimulatedThread) { ecs_order_pass_to(UInt32(thread.id)) }

    /// All that has happened precedes what the calling thread does next.
    func acquireAll() { ecs_order_acquire_all() }

    /// Time has passed, so that all stores are visible.
    func settle() { ecs_order_settle() }

    private static let setHooks: Void = unsafe ecs_set_access_hooks(
        ecs_access_hooks(
            will_access: {
                unsafe HostThread.of($0).willAccess(Word($1), $2, isTotal: $3, in: $4)
            },
            will_fence: { unsafe HostThread.of($0).willFence(in: $1) },
            loads_earlier: { unsafe HostThread.of($0).loadsEarlier(Word($1)) },
            did_access: {
                unsafe HostThread.of($0).didAccess(Word($1), $2, $3, $4, version: $5, in: $6)
            },
            will_lock: { unsafe HostThread.current?.willLock(SystemLock(mutex: $0), waits: true) },
            did_lock: { unsafe HostThread.current?.didLock(SystemLock(mutex: $0)) },
            did_unlock: { _ = unsafe HostThread.current?.didUnlock(SystemLock(mutex: $0)) },
            owned_buffer: { unsafe ecs_owned_buffer($0, $1) },
            did_race: { unsafe HostThread.of($0).didRace(Word($1), $2, $3) },
            did_free: { unsafe HostThread.of($0).didFreeAtomic(Word($1)) }))
}
