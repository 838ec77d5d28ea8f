/// A value of a type that only its sender and its receivers know.
///
/// So the code between them is not generic: a generic type is looked up at every use, which took
/// half the time of a flight, and four fifths of that of an element in a channel.
@usableFromInline
@_fixed_layout
class Payload: @unchecked Sendable {
    // Unchecked: immutable, also in its only subclass.

    @usableFromInline
    init() {}

    /// The value. The caller knows its type, and names it: an inferred type may be optional.
    @inlinable
    final func value<Value: Sendable>(as type: Value.Type) -> Value {
        // Safe: the payloads of a channel, and those of a work item, carry values of one type,
        // which `Channel`, `SharedWork` and `Flight` have as a parameter. A debug build checks it.
        unsafe unsafeDowncast(self, to: TypedPayload<Value>.self).content
    }
}

@usableFromInline
@_fixed_layout
final class TypedPayload<Value: Sendable>: Payload, @unchecked Sendable {
    // Unchecked like the base.
    @usableFromInline let content: Value

    @inlinable
    init(_ content: Value) { self.content = content }
}
