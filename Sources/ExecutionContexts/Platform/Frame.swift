import CPlatform

/// Marks that the calling thread runs work of a context, for as long as a closure runs.
///
/// The marks of one thread form a stack in the stack itself, so nested contexts see each other and a
/// mark costs a few instructions. This is what lets a view say yes in `isCurrent` and never falsely
/// (law 4): a mark stands exactly while the work runs.
enum Frame {
    /// Says for whose work a frame stands; the object outlives the frame.
    typealias Owner = UnsafeRawPointer

    static func owner(_ object: AnyObject) -> Owner {
        unsafe Owner(Unmanaged.passUnretained(object).toOpaque())
    }

    @inline(__always)
    static func enter<Result: ~Copyable, Failure: Error>(
        _ owner: Owner, note: Int = 0, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var frame = unsafe ec_frame(owner: owner, parent: ec_frame_top(), note: note)
        return try unsafe withUnsafeMutablePointer(to: &frame) {
            (pointer: UnsafeMutablePointer<ec_frame>) throws(Failure) -> Result in
            unsafe ec_frame_set_top(pointer)
            defer { unsafe ec_frame_set_top(pointer.pointee.parent) }
            return try body()
        }
    }

    /// Runs `body` as a part of what another thread is doing, which waits for it: that one's work is current here.
    ///
    /// So a synchronous call that crosses threads on its way through several views knows those it came through.
    /// The frames are only read, and cannot end, while their thread waits.
    static func continuing(_ callers: UnsafeMutablePointer<ec_frame>?, _ body: () -> Void) {
        guard let callers = unsafe callers, var outermost = unsafe ec_frame_top() else { return body() }
        while unsafe outermost != callers, let parent = unsafe outermost.pointee.parent {
            unsafe outermost = parent
        }
        // A base that runs work on the caller: its frames are here already.
        if unsafe outermost == callers { return body() }
        unsafe outermost.pointee.parent = callers
        defer { unsafe outermost.pointee.parent = nil }
        body()
    }

    /// The innermost frame of `owner` on this thread, or nil where none of its work runs here.
    static func find(_ owner: Owner) -> UnsafeMutablePointer<ec_frame>? {
        var next = unsafe ec_frame_top()
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner { return unsafe frame }
            unsafe next = frame.pointee.parent
        }
        return nil
    }

    /// Whether work of `owner` runs on this thread.
    ///
    /// A view's frame with a note asks its base for another turn and runs no work: what the base runs meanwhile on
    /// this thread is somebody else's.
    static func isCurrent(_ owner: Owner) -> Bool {
        var next = unsafe ec_frame_top()
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner && frame.pointee.note == 0 { return true }
            unsafe next = frame.pointee.parent
        }
        return false
    }

    /// The owner of the innermost frame with this note, or nil.
    static func owner(noting note: Int) -> Owner? {
        var next = unsafe ec_frame_top()
        while let frame = unsafe next {
            if unsafe frame.pointee.note == note { return unsafe frame.pointee.owner }
            unsafe next = frame.pointee.parent
        }
        return nil
    }
}
