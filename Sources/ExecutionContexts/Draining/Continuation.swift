internal import CPlatform

/// How a drain that has used up its turn goes on, on a base that runs it inline.
///
/// It asks the base for another turn. Most bases give one later. One that runs work on the caller gives it
/// at once, inside the drain that asked: that one is told to go on, and the stack does not nest. The offer
/// stands in the frame of the drain that asked, on its own stack, so nothing is touched that the next drain,
/// which may be under way on another thread, could need.
enum Continuation {
    private static let offered = 1
    private static let accepted = 2

    /// Asks by `request`; true if the turn came inside this call and the caller is to go on.
    static func offer(by frame: UnsafeMutablePointer<ec_frame>, request: () -> Void) -> Bool {
        unsafe frame.pointee.note = offered
        request()
        let isAccepted = unsafe frame.pointee.note == accepted
        unsafe frame.pointee.note = 0
        return isAccepted
    }

    /// Whether the turn that begins belongs to a drain of the same view further up this stack.
    static func accept(_ owner: Frame.Owner) -> Bool {
        guard let outer = unsafe Frame.find(owner), unsafe outer.pointee.note == offered else {
            return false
        }
        unsafe outer.pointee.note = accepted
        return true
    }
}
