internal import CPlatform

/// What a cell waits for: the one it was derived from, or follows.
extension AsyncCell {
    /// Joins its source; for a cell that nobody knows of yet.
    final func wait(for source: AsyncCell, _ step: @escaping Step) {
        unsafe self.step = step
        wait(for: source)
    }

    /// Joins its source; for a cell that nobody knows of yet.
    final func wait(for source: AsyncCell) {
        unsafe link = Unmanaged.passUnretained(source)
        source.join(self)
    }

    /// The cell in whose line this one stands, unless it is being freed. Under the lock of this one, which has not ended.
    final func source() -> AsyncCell? {
        // Its memory is there, see `link`, but its last reference may be gone.
        guard let link = unsafe link, let cell = unsafe ec_try_retain(link.toOpaque()) else { return nil }
        return unsafe Unmanaged<AsyncCell>.fromOpaque(cell).takeRetainedValue()
    }

    /// Ends like another one, when that has ended. `copy` knows the type.
    @usableFromInline
    final func follow(_ other: AsyncCell, _ copy: @escaping Step) {
        guard other !== self else { return _ = end(throwing: AsyncError.waitsForItself) }
        if unsafe isUnheld, let follower = onlyFollower() { return follower.move(to: other) }
        guard lockIfPending() else { return other.cancelIfUnwanted() }
        unsafe step = copy
        unsafe link = Unmanaged.passUnretained(other)
        lock.unlock()
        other.takeIn(self)
    }

    /// The only party of this one, if that is a cell which waits for nothing else; it stands in no line then.
    ///
    /// For a cell that nothing refers to but its caller and that is to end like another one: its follower waits for that
    /// other one instead, and this is freed. So a function that calls itself by way of `flatMap` keeps no cell a turn.
    private final func onlyFollower() -> AsyncCell? {
        lock.lock()
        defer { lock.unlock() }
        let party = unsafe state.removeOnly { ($0 as? AsyncCell)?.isMovable ?? false }
        return party.map { unsafe unsafeDowncast($0, to: AsyncCell.self) }
    }

    /// Waits for another cell, which ends like the one did that it stood in the line of.
    private final func move(to other: AsyncCell) {
        guard other !== self else { return _ = end(throwing: AsyncError.waitsForItself) }
        guard lockIfPending() else {
            // Cancelled when it stood in no line: the canceller could not leave, so the step is this caller's.
            freeStep()
            return other.cancelIfUnwanted()
        }
        unsafe link = Unmanaged.passUnretained(other)
        unlock()
        other.takeIn(self)
    }

    /// Takes the step that was to be taken when the source had ended, unless it has ended itself.
    final func takeStep(_ source: AsyncCell) {
        let step = unsafe step.take()
        if isPending { step?(source, self) }
    }

    /// The source has told this cell and may go, while this one waits for something else.
    final func forget(_ source: AsyncCell) {
        guard lockIfPending() else { return }
        if unsafe link?.toOpaque() == Unmanaged.passUnretained(source).toOpaque() { unsafe link = nil }
        lock.unlock()
    }

    /// What it waits for, as far as it does and that is one cell.
    final var awaited: AsyncCell? {
        lock.lock()
        defer { lock.unlock() }
        return unsafe state.phase == .pending ? source() : nil
    }

    /// Somebody in the line of a cell that this one cannot do without.
    struct Need {
        let party: Party
        let source: AsyncCell
    }
}
