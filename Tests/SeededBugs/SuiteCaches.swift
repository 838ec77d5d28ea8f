import ExecutionContexts
import ExecutionContextsTesting

/// Caches and registries that one thread reads while another changes them, as in JaConTeBe.
extension SeededBug {
    static let suiteCaches: [SeededBug] = [
        checkedForNil, computedTwice, walkedByIndex, halfInitialised, removedOther, oldSnapshot,
    ]

    /// A caller checks that the connection is there, and reads it again to use it.
    ///
    /// As `derby-5561` of JaConTeBe.
    static let checkedForNil = SeededBug("checked for nil, then read again", .threw, depth: 1) {
        sim, isMended in
        let connection = Tracked<String?>("connection", name: "connection")
        sim.spawn("caller") {
            guard let checked = connection.value else { return }
            let used = isMended ? checked : connection.value
            try require(used != nil, "the connection is nil")
        }
        sim.spawn("closer") { connection.value = nil }
    }

    /// Two readers find no entry, and both compute it.
    ///
    /// As `lucene-651` of JaConTeBe.
    static let computedTwice = SeededBug("entry computed twice", .invariant, depth: 1) {
        sim, isMended in
        let cache = LockedResource([String: Int](), lockedBy: .coordinator(named: "cache"))
        let computations = Tracked(0, name: "computations")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if cache.read({ $0["title"] }) != nil { return }
                cache.mutate { cache in
                    if isMended && cache["title"] != nil { return }
                    computations.value += 1
                    cache["title"] = 7
                }
            }
        }
        sim.finally("computed once") { computations.value == 1 }
    }

    /// The appenders are walked by index up to a count that was read before.
    ///
    /// As `log4j-54325` of JaConTeBe.
    static let walkedByIndex = SeededBug("walked by an old count", .threw, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "appenders")
        let appenders = Tracked(["console", "file"], name: "appenders")
        let written = Tracked(0, name: "written")
        sim.spawn("logger") {
            let all = section.execute { appenders.value }
            for index in all.indices {
                let now = isMended ? all : section.execute { appenders.value }
                try require(index < now.count, "there is no such appender")
                written.value += 1
            }
        }
        sim.spawn("closer") { section.execute { appenders.value = ["console"] } }
    }

    /// Because of a flag against recursion, other threads continue before the registry is filled.
    ///
    /// As the registries of `groovy` in JaConTeBe.
    static let halfInitialised = SeededBug("flag against recursion", .threw, depth: 1) {
        sim, isMended in
        let (section, isFilling) = (
            CriticalSection(name: "filling"), Tracked(false, name: "filling")
        )
        let registry = Tracked<[String]>([], name: "registry")
        @Sendable func fill() {
            if isFilling.value { return }
            isFilling.value = true
            for name in ["Int", "String"] { registry.value += [name] }
        }
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended { section.execute(fill) } else { fill() }
                try require(registry.value.count >= 2, "a class is missing")
            }
        }
    }

    /// An entry that has expired is removed, though another thread has replaced it.
    ///
    /// As the caches of `groovy` and of the JDK in JaConTeBe.
    static let removedOther = SeededBug("newer entry removed", .invariant, depth: 1) {
        sim, isMended in
        let cache = LockedResource(["page": 1], lockedBy: .section(named: "cache"))
        sim.spawn("cleaner") {
            guard let old = cache.read({ $0["page"] }), old < 2 else { return }
            cache.mutate { if !isMended || $0["page"] == old { $0["page"] = nil } }
        }
        sim.spawn("loader") { cache.mutate { $0["page"] = 2 } }
        sim.finally("the new page is there") { cache.read { $0["page"] == 2 } }
    }

    /// A reader takes the size of a snapshot and its entries from two versions.
    ///
    /// As `lucene-2783` and `groovy-4736` of JaConTeBe.
    static let oldSnapshot = SeededBug("size and entries of two versions", .threw, depth: 2) {
        sim, isMended in
        let index = ReadWriteCoordinator(name: "index", writesOn: sim.serial(named: "writes"))
        let (size, entries) = (Tracked(0, name: "size"), Tracked<[Int]>([], name: "entries"))
        sim.spawn("writer") {
            index.enqueueWrite {
                entries.value += [7]
                size.value += 1
            }
        }
        sim.spawn("searcher") {
            let (count, all) =
                isMended
                ? index.read { (size.value, entries.value) }
                : (index.read { size.value }, index.read { entries.value })
            try require(count == all.count, "size and entries do not fit")
        }
    }
}
