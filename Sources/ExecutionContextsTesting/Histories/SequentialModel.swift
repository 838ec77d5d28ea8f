/// The sequential behavior of a structure, which concurrent callers must observe, too.
///
/// Write it as a value with one method, as simple as possible; speed does not matter:
///
/// ```swift
/// struct StackModel: SequentialModel, Hashable {
///     enum Operation: Sendable { case push(Int), pop }
///     private var elements: [Int] = []
///
///     mutating func apply(_ operation: Operation) -> Int? {
///         switch operation {
///         case .push(let element): elements.append(element)
///         case .pop: return elements.popLast()
///         }
///         return nil
///     }
/// }
/// ```
///
/// Make it `Hashable` if possible, so that the check explores each state once. Without that, a
/// check of many concurrent operations takes far longer. An answer may depend only on the
/// operations before it.
public protocol SequentialModel<Operation, Answer>: Sendable {
    /// The operations, with their arguments. A failure shows their description.
    associatedtype Operation: Sendable
    /// The answer of an operation.
    associatedtype Answer: Equatable & Sendable

    /// Performs one operation, and returns its answer.
    mutating func apply(_ operation: Operation) -> Answer
}
