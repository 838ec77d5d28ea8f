internal import CPlatform

/// Records on a thread's stack that a thread-local's value is being created or used there.
///
/// An instantiator that asks its own thread-local for the value gets an answer, and does not call
/// itself. A value that a closure has taken out of its storage is not overlooked (law 22).
@safe struct LocalInitialization {
    private let owner: UnsafeRawPointer
    private let outer: UnsafeMutablePointer<LocalInitialization>?
    private let isUse: Bool

    /// Runs `body`, unless it is already running on the calling thread for this owner.
    static func once<Value>(_ owner: AnyObject, _ body: () -> Value?) -> Value? {
        let thread = unsafe Threads.own
        let owner = unsafe UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque())
        unsafe LocalTable.reserve(0, on: thread)
        let outer = unsafe top(thread)
        var next = unsafe outer
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner, unsafe !frame.pointee.isUse { return nil }
            unsafe next = frame.pointee.outer
        }
        var frame = unsafe LocalInitialization(owner: owner, outer: outer, isUse: false)
        return unsafe withUnsafeMutablePointer(to: &frame) { pointer in
            unsafe setTop(pointer, thread)
            defer { unsafe setTop(outer, thread) }
            return body()
        }
    }

    /// Runs `body`, which has taken the value of `owner` out of its storage.
    static func using<Result: ~Copyable, Failure: Error>(
        _ owner: AnyObject, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let thread = unsafe Threads.own
        unsafe LocalTable.reserve(0, on: thread)
        let outer = unsafe top(thread)
        var frame = unsafe LocalInitialization(
            owner: UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque()), outer: outer,
            isUse: true)
        return try unsafe withUnsafeMutablePointer(to: &frame) {
            (pointer: UnsafeMutablePointer<LocalInitialization>) throws(Failure) -> Result in
            unsafe setTop(pointer, thread)
            defer { unsafe setTop(outer, thread) }
            return try body()
        }
    }

    /// Whether a closure on the calling thread has taken the value of `owner` out of its storage.
    static func isUsed(_ owner: AnyObject) -> Bool {
        guard let thread = unsafe ec_thread_current() else { return false }
        let owner = unsafe UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque())
        var next = unsafe top(thread)
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner { return unsafe frame.pointee.isUse }
            unsafe next = frame.pointee.outer
        }
        return false
    }

    // Looked up each time: the body may grow the table, which moves it.
    private static func top(_ thread: ThreadRecord) -> UnsafeMutablePointer<LocalInitialization>? {
        unsafe LocalTable.header(of: thread)?.pointee.making
    }

    private static func setTop(
        _ frame: UnsafeMutablePointer<LocalInitialization>?, _ thread: ThreadRecord
    ) {
        unsafe LocalTable.header(of: thread)?.pointee.making = frame
    }
}
