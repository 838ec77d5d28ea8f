/// The value of a cell, which does not know its type.
///
/// The objects behind an `Async` are not generic: unspecialized generic code looks types up at run time, and that costs
/// more than everything else here together. What knows the type is the thin layer on top, which is specialized where
/// it is called. It alone stores and loads, and a cell is only ever in the hands of `Async`s of one type.
extension AsyncCell {
    /// Ends it with a value and tells everybody; false if it had ended already, which changes nothing (law 24).
    @inlinable
    @discardableResult
    final func end<Value>(with value: consuming Value) -> Bool {
        guard let ending = beginEnd() else { return false }
        store(value)
        finish(ending)
        return true
    }

    /// Ends it with an outcome, in the same way.
    @inlinable
    @discardableResult
    final func end<Value>(with outcome: consuming Result<Value, any Error>) -> Bool {
        switch outcome {
        case .success(let value): end(with: value)
        case .failure(let error): end(throwing: error)
        }
    }

    /// The outcome of a cell that has ended; `Value` is its type.
    @inlinable
    final func outcome<Value>() -> Result<Value, any Error> {
        if let error { return .failure(error) }
        return .success(load())
    }

    /// The error of a cell that has ended with one.
    @inlinable
    final var error: (any Error)? { unsafe isFailure ? (load() as Failure).error : nil }

    /// Ends it like another one of the same type, which has ended.
    @inlinable
    final func end<Value>(like other: AsyncCell, _ type: Value.Type) {
        let outcome: Result<Value, any Error> = other.outcome()
        end(with: outcome)
    }

    /// Whether values of this type stand in the words themselves.
    @inlinable @inline(__always)
    static func fits<Value>(_ type: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= MemoryLayout<(UInt, UInt)>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
    }

    /// Stores the outcome, or leaves a note of how its life ends.
    @inlinable @inline(__always)
    final func store<Value>(_ value: consuming Value) {
        if Self.fits(Value.self) {
            unsafe write(value)
            if !_isPOD(Value.self) { unsafe type = Value.self }
        } else {
            let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            unsafe place.initialize(to: value)
            unsafe write(place)
            unsafe type = Value.self
        }
    }

    @inlinable @inline(__always)
    final func load<Value>() -> Value {
        // A reading access, since many may read at a time; and a raw one, since the words are declared as something else.
        // What is read is counted while the cell still lives, which the pointer does not say.
        withExtendedLifetime(self) {
            unsafe withUnsafePointer(to: words) { words in
                let words = unsafe UnsafeRawPointer(words)
                if Self.fits(Value.self) { return unsafe words.load(as: Value.self) }
                return unsafe words.load(as: UnsafeMutablePointer<Value>.self).pointee
            }
        }
    }

    /// Ends the life of the outcome.
    final func destroy<Value>(_ type: Value.Type) {
        if Self.fits(type) {
            _ = unsafe take(type)
        } else {
            let place = unsafe take(UnsafeMutablePointer<Value>.self)
            unsafe place.deinitialize(count: 1)
            unsafe place.deallocate()
        }
    }

    /// Takes out what the words hold; nil where there is nothing to free.
    final func takeOutcome() -> Any? {
        guard let type = unsafe type else { return nil }
        unsafe self.type = nil
        return takeOutcome(type)
    }

    private final func takeOutcome<Value>(_ type: Value.Type) -> Any {
        if Self.fits(type) { return unsafe take(type) }
        let place = unsafe take(UnsafeMutablePointer<Value>.self)
        defer { unsafe place.deallocate() }
        return unsafe place.move()
    }

    // MARK: - The words

    /// Makes a value out of the words, which hold none.
    @inlinable @inline(__always)
    @unsafe final func write<Content>(_ content: consuming Content) {
        let content = content
        _ = unsafe withWords { words in
            unsafe words.initializeMemory(as: Content.self, repeating: content, count: 1)
        }
    }

    /// Takes a value of this type out of the words, which hold one.
    @unsafe final func take<Content>(_ type: Content.Type) -> Content {
        unsafe withWords { words in unsafe words.assumingMemoryBound(to: type).move() }
    }

    @inlinable @inline(__always)
    @unsafe final func withWords<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
        // A stored property of an object has one address, where neither observers nor checks stand before it.
        unsafe withUnsafeMutablePointer(to: &words) { unsafe body(UnsafeMutableRawPointer($0)) }
    }
}
