/// A pool of a run.
struct ModelledPool: Sendable {
    private let core: PoolCore
    private let run: ModelRun

    init(_ run: ModelRun) {
        let core = PoolCore(
            name: "pool", width: run.workers, limit: max(64, run.workers), qos: 0)
        (self.core, self.run) = (core, run)
        run.machine.discover {
            run.machine.name(core, "pool")
            for index in 0..<core.count { run.machine.name(core.worker(index), "worker") }
        }
    }

    func submit(_ work: @escaping Work) { context.execute(work) }

    func serialView(_ name: String) -> SerialView {
        let view = SerialView(base: context, name: name)
        run.machine.discover { [run] in run.machine.name(view, "view") }
        return view
    }

    private var context: PoolBase { PoolBase(core: core) }
}

/// The context of a pool, as `PoolContext` is that of the shared one.
struct PoolBase: ExecutionContext {
    let core: PoolCore
    var facts: ContextFacts {
        var facts = ContextFacts()
        facts.isReliable = true
        return facts
    }
    var name: String { core.name }
    var runsAnywhere: Bool { true }
    func execute(_ work: consuming @escaping Work) {
        _ = core.submit(UnmanagedWork(consume work), .medium)
    }
    func enqueue(_ work: consuming @escaping Work) {
        _ = core.submit(UnmanagedWork(consume work), .medium, isAccepted: true)
    }
}

/// A coordinator of a run.
struct Coordinated: Sendable {
    let coordinator = ReadWriteCoordinator()
    private let run: ModelRun

    init(_ run: ModelRun) {
        self.run = run
        unsafe run.machine.name(
            UInt(bitPattern: coordinator.admission.word), byteCount: 2 * CacheLines.size,
            "admission")
    }

    func read() { coordinator.read { run.machine.spend(run.workTime / 4) } }

    /// Writes every twenty microseconds until the run is done.
    func writeRepeatedly(_ written: () -> Void) {
        while !run.isDone {
            coordinator.blockingWrite { run.machine.spend(run.workTime) }
            written()
            run.machine.pause(for: 20_000)
        }
    }
}

// Of the C library, in a header that Swift does not import.
@_silgen_name("malloc_usable_size")
private func malloc_usable_size(_ memory: UnsafeRawPointer) -> Int

extension Machine {
    /// Names an object.
    func name(_ object: AnyObject, _ name: String) {
        let memory = unsafe Unmanaged.passUnretained(object).toOpaque()
        let address = UInt(bitPattern: memory)
        if lines.hasName(address) { return }
        self.name(address, byteCount: unsafe malloc_usable_size(memory), name)
    }
}
