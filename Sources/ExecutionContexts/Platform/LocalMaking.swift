internal import CPlatform

/// Says, for as long as it stands in the stack of a thread, that a thread-local's value is being made there.
///
/// So an instantiator that asks its own thread-local for the value gets an answer, and not itself again (law 22).
@safe struct LocalMaking {
    private let owner: UnsafeRawPointer
    private let outer: UnsafeMutablePointer<LocalMaking>?

    /// Runs `body`, unless it is running on the calling thread for this owner already.
    static func once<Value>(_ owner: AnyObject, _ body: () -> Value?) -> Value? {
        let thread = unsafe Threads.current
        let owner = unsafe UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque())
        unsafe LocalTable.reserve(0, on: thread)
        let outer = unsafe top(thread)
        var next = unsafe outer
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner { return nil }
            unsafe next = frame.pointee.outer
        }
        var frame = unsafe LocalMaking(owner: owner, outer: outer)
        return unsafe withUnsafeMutablePointer(to: &frame) { pointer in
            unsafe setTop(pointer, thread)
            defer { unsafe setTop(outer, thread) }
            return body()
        }
    }

    // Looked up each time: the body may make the table larger, which moves it.
    private static func top(_ thread: ThreadRecord) -> UnsafeMutablePointer<LocalMaking>? {
        unsafe LocalTable.header(of: thread)?.pointee.making
    }

    private static func setTop(_ frame: UnsafeMutablePointer<LocalMaking>?, _ thread: ThreadRecord) {
        unsafe LocalTable.header(of: thread)?.pointee.making = frame
    }
}
