internal import CPlatform

/// How a drain that has spent its budget continues, on a base that runs work on the caller.
///
/// 1. The drain sets `offered` in its own frame, and requests another drain from the base.
/// 2. Most bases run that drain later, on some thread. It finds no offer, and the first drain ends.
/// 3. A base that runs work on the caller runs it at once, inside the request. The new drain finds
///    the offer up the stack, sets `accepted` and returns. The first drain continues, so the stack
///    does not nest.
///
/// The offer is in the first drain's frame, on its own stack. So it is not shared with the next
/// drain, which may already run on another thread.
enum DrainContinuation {
    private static let offered = 1
    private static let accepted = 2

    /// Calls `request`; true if the new drain came inside this call, and the caller must continue.
    static func offer(by frame: UnsafeMutablePointer<ec_frame>, request: () -> Void) -> Bool {
        unsafe frame.pointee.note = offered
        request()
        let isAccepted = unsafe frame.pointee.note == accepted
        unsafe frame.pointee.note = 0
        return isAccepted
    }

    /// Whether the drain that begins belongs to a drain of the same view further up this stack.
    static func accept(_ owner: Frame.Owner) -> Bool {
        guard let outer = unsafe Frame.find(owner), unsafe outer.pointee.note == offered else {
            return false
        }
        unsafe outer.pointee.note = accepted
        return true
    }
}
