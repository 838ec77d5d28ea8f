/// What a structure does when it is used by one thread at a time: what it must look like to many.
///
/// Write it as a value with one method, as simple as can be; speed does not matter:
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
/// Make it `Hashable` where that is possible, so that no state is looked at twice; without it a check of many concurrent
/// operations takes far longer. Its answers may depend on nothing but the operations before.
public protocol SequentialModel<Operation, Answer>: Sendable {
    /// What can be done, with its arguments. Its description is what a failure shows.
    associatedtype Operation: Sendable
    /// What comes back.
    associatedtype Answer: Equatable & Sendable

    /// Does one operation, and returns what it answers.
    mutating func apply(_ operation: Operation) -> Answer
}
