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

    /// Ends like another one, when that has ended. `copy` knows the type.
    @usableFromInline
    final func follow(_ other: AsyncCell, _ copy: @escaping Step) {
        guard other !== self else { return _ = end(throwing: AsyncError.waitsForItself) }
        guard lockIfPending() else { return other.cancelIfUnwanted() }
        unsafe step = copy
        unsafe link = Unmanaged.passUnretained(other)
        lock.unlock()
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
        return unsafe state.phase == .pending ? link?.takeUnretainedValue() : nil
    }

    /// Somebody in the line of a cell that this one cannot do without.
    struct Need {
        let party: Party
        let source: AsyncCell
    }
}
