internal import CPlatform

/// Says, for as long as it stands in the stack of a thread, that a thread-local's value is being made or used there.
///
/// So an instantiator that asks its own thread-local for the value gets an answer, and not itself again, and a closure
/// that has the value in hand is not overlooked (law 22).
@safe struct LocalMaking {
    private let owner: UnsafeRawPointer
    private let outer: UnsafeMutablePointer<LocalMaking>?
    private let isUse: Bool

    /// Runs `body`, unless it is running on the calling thread for this owner already.
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
        var frame = unsafe LocalMaking(owner: owner, outer: outer, isUse: false)
        return unsafe withUnsafeMutablePointer(to: &frame) { pointer in
            unsafe setTop(pointer, thread)
            defer { unsafe setTop(outer, thread) }
            return body()
        }
    }

    /// Runs `body`, which has the value of `owner` in hand, so that it is not in its place.
    static func using<Result: ~Copyable, Failure: Error>(
        _ owner: AnyObject, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let thread = unsafe Threads.own
        unsafe LocalTable.reserve(0, on: thread)
        let outer = unsafe top(thread)
        var frame = unsafe LocalMaking(
            owner: UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque()), outer: outer, isUse: true)
        return try unsafe withUnsafeMutablePointer(to: &frame) {
            (pointer: UnsafeMutablePointer<LocalMaking>) throws(Failure) -> Result in
            unsafe setTop(pointer, thread)
            defer { unsafe setTop(outer, thread) }
            return try body()
        }
    }

    /// Whether a closure on the calling thread has the value of `owner` in hand.
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

    // Looked up each time: the body may make the table larger, which moves it.
    private static func top(_ thread: ThreadRecord) -> UnsafeMutablePointer<LocalMaking>? {
        unsafe LocalTable.header(of: thread)?.pointee.making
    }

    private static func setTop(_ frame: UnsafeMutablePointer<LocalMaking>?, _ thread: ThreadRecord) {
        unsafe LocalTable.header(of: thread)?.pointee.making = frame
    }
}
