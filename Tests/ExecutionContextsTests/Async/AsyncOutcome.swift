import ExecutionContexts

// What tests ask of an `Async` that has ended.
extension Async {
    var value: Value? { try? outcome?.get() }

    var error: (any Error)? {
        if case .failure(let error) = outcome { return error }
        return nil
    }
}
