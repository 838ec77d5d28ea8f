/// Completing a future state with a value, storing and loading: the state does not know the type.
///
/// The objects behind an `Async` are not generic: unspecialized generic code looks up types at run
/// time, which costs more than all other work here. The thin generic layer on top knows the type
/// and is specialized where it is called. Only that layer stores and loads, and all `Async`s that
/// share a future state have the same type.
extension FutureState {
    /// Completes it with a value; false, and no effect, if it had completed already (law 24).
    @inlinable
    @discardableResult
    final func complete<Value>(with value: consuming Value) -> Bool {
        guard let completion = beginCompletion() else { return false }
        store(value)
        finishCompletion(completion)
        return true
    }

    /// Completes it with an outcome; false, and no effect, if it had completed already (law 24).
    @inlinable
    @discardableResult
    final func complete<Value>(with outcome: consuming Result<Value, any Error>) -> Bool {
        switch outcome {
        case .success(let value): complete(with: value)
        case .failure(let error): complete(throwing: error)
        }
    }

    /// The outcome of a completed state; `Value` is the type of its value.
    @inlinable
    final func outcome<Value>() -> Result<Value, any Error> {
        if let error { return .failure(error) }
        return .success(load())
    }

    /// The error of a completed state; nil if it has a value.
    @inlinable
    final var error: (any Error)? { unsafe isFailure ? (load() as Failure).error : nil }

    /// Completes it like another state of the same type, which has completed.
    @inlinable
    final func complete<Value>(like other: FutureState, _ type: Value.Type) {
        let outcome: Result<Value, any Error> = other.outcome()
        complete(with: outcome)
    }

    /// Whether values of this type are stored inline, in the words themselves.
    @inlinable @inline(__always)
    static func fits<Value>(_ type: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= MemoryLayout<(UInt, UInt)>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
    }

    /// Stores the outcome, inline or on the heap, and its type if it must be destroyed.
    @inlinable @inline(__always)
    final func store<Value>(_ value: consuming Value) {
        if Self.fits(Value.self) {
            unsafe write(value)
            if !_isPOD(Value.self) { unsafe type = Value.self }
        } else {
            let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            unsafe pointer.initialize(to: value)
            unsafe write(pointer)
            unsafe type = Value.self
        }
    }

    @inlinable @inline(__always)
    final func load<Value>() -> Value {
        // A read access, because many threads may read at a time. A raw one, because the words have
        // another declared type. The extended lifetime keeps the state alive until what is read has
        // been retained, which the pointer does not ensure.
        withExtendedLifetime(self) {
            unsafe withUnsafePointer(to: words) { words in
                let words = unsafe UnsafeRawPointer(words)
                if Self.fits(Value.self) { return unsafe words.load(as: Value.self) }
                return unsafe words.load(as: UnsafeMutablePointer<Value>.self).pointee
            }
        }
    }

    /// Destroys the outcome.
    final func destroy<Value>(_ type: Value.Type) {
        if Self.fits(type) {
            _ = unsafe take(type)
        } else {
            let pointer = unsafe take(UnsafeMutablePointer<Value>.self)
            unsafe pointer.deinitialize(count: 1)
            unsafe pointer.deallocate()
        }
    }

    /// Moves the contents out of the words; nil if there is nothing to free.
    final func takeOutcome() -> Any? {
        guard let type = unsafe type else { return nil }
        unsafe self.type = nil
        return takeOutcome(type)
    }

    private final func takeOutcome<Value>(_ type: Value.Type) -> Any {
        if Self.fits(type) { return unsafe take(type) }
        let pointer = unsafe take(UnsafeMutablePointer<Value>.self)
        defer { unsafe pointer.deallocate() }
        return unsafe pointer.move()
    }

    // MARK: - The words

    /// Initializes the words, which hold no value, with a value.
    @inlinable @inline(__always)
    @unsafe final func write<Content>(_ content: consuming Content) {
        let content = content
        _ = unsafe withWords { words in
            unsafe words.initializeMemory(as: Content.self, repeating: content, count: 1)
        }
    }

    /// Moves a value of this type, which the words hold, out of them.
    @unsafe final func take<Content>(_ type: Content.Type) -> Content {
        unsafe withWords { words in unsafe words.assumingMemoryBound(to: type).move() }
    }

    @inlinable @inline(__always)
    @unsafe final func withWords<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
        // A stored property of an object has a stable address if it has neither observers nor
        // exclusivity checks.
        unsafe withUnsafeMutablePointer(to: &words) { unsafe body(UnsafeMutableRawPointer($0)) }
    }
}
