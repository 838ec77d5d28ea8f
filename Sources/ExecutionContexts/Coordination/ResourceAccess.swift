/// One access to a locked resource, whatever the resource's type: it asks the lock, and marks the
/// access.
///
/// Not generic: code of another module would run the generic code unspecialized, at ten times the
/// cost.
@usableFromInline
enum ResourceAccess {
    /// The resource's marks: two addresses that no other object has.
    @safe struct Marks {
        let reading: Frame.Owner
        let writing: Frame.Owner

        /// The marks of `resource`, whose value is at `value`.
        init(of resource: AnyObject, at value: UnsafeRawPointer) {
            unsafe (reading, writing) = unsafe (Frame.owner(resource), value)
        }

        var isReading: Bool { unsafe Frame.isCurrent(reading) }
        var isWriting: Bool { unsafe Frame.isCurrent(writing) }
    }

    /// Runs `body` once, as a write.
    ///
    /// Never inlined: the caller keeps `resource` for as long as this call lasts, also where `body`
    /// does not return.
    @inline(never) @usableFromInline
    static func write(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ fileID: StaticString, _ line: UInt, _ body: () -> Void
    ) {
        let marks = unsafe Marks(of: resource, at: value)
        refuse("a write", inside: marks, fileID, line)
        require(
            !marks.isReading,
            "\(fileID):\(line): a write inside a read of the same resource would change what the read "
                + "looks at (law 18). Use enqueueWrite, which runs later, or do all of it in one write."
        )
        var hasRun = false
        lock.exclusively {
            unsafe run(once: &hasRun, as: marks.writing, behind: lock, body)
        }
        requireRun(hasRun, lock)
    }

    /// Runs `body` once, as a read; inside a read of the same resource at once.
    ///
    /// Never inlined, for the same reason.
    @inline(never) @usableFromInline
    static func read(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ fileID: StaticString, _ line: UInt, _ body: () -> Void
    ) {
        let marks = unsafe Marks(of: resource, at: value)
        refuse("a read", inside: marks, fileID, line)
        if marks.isReading { return body() }
        var hasRun = false
        lock.read {
            unsafe run(once: &hasRun, as: marks.reading, behind: lock, body)
        }
        requireRun(hasRun, lock)
    }

    /// Runs an enqueued write, which the lock has called.
    static func runEnqueued(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ body: () -> Void
    ) {
        let marks = unsafe Marks(of: resource, at: value)
        require(
            !marks.isReading && !marks.isWriting,
            "The lock '\(type(of: lock))' ran an enqueued write inside another access (law 18). Run it later."
        )
        unsafe Frame.enter(marks.writing, body)
    }

    private static func run(
        once hasRun: inout Bool, as mark: Frame.Owner, behind lock: any ResourceLock,
        _ body: () -> Void
    ) {
        require(
            !hasRun,
            "The lock '\(type(of: lock))' ran one access twice (law 30). Run each body once.")
        unsafe Frame.enter(mark, body)
        hasRun = true
    }

    private static func requireRun(_ hasRun: Bool, _ lock: any ResourceLock) {
        require(
            hasRun,
            "The lock '\(type(of: lock))' returned without having run the access it was given (law 30). "
                + "Run each body once before returning.")
    }

    private static func refuse(
        _ access: String, inside marks: Marks, _ fileID: StaticString, _ line: UInt
    ) {
        require(
            !marks.isWriting,
            "\(fileID):\(line): \(access) inside a write of the same resource would overlap with it "
                + "(law 30). Use the value that the outer closure has; pass it on as an inout parameter."
        )
    }
}
