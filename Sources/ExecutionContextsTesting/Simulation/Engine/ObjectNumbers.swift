internal import ExecutionContexts

/// Numbers for the objects of one schedule, in the order in which it made or found them.
///
/// Most programs create their objects in the body, which runs alone. So an object mostly has the
/// same number in each schedule, though its address differs.
struct ObjectNumbers {
    private var numbers: [Word: Int] = [:]
    private var next = 0

    /// A new object is at this address.
    mutating func make(_ word: Word) {
        numbers[word] = next
        next += 1
    }

    /// The object at an address is gone.
    mutating func forget(_ word: Word) { numbers[word] = nil }

    mutating func number(of word: Word) -> Int {
        if let known = numbers[word] { return known }
        make(word)
        return next - 1
    }
}

extension SimulationScheduler {
    /// Records an object that the program created.
    func didMake(_ word: Word, _ name: String, isTracked: Bool = false) {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        objects.make(word)
        memory?.make(word)
        guard let log else { return }
        let thread = caller?.id ?? 0
        if isTracked {
            log.makeTracked(word, name, by: thread)
        } else {
            log.make(word, name, by: thread)
        }
    }
}
