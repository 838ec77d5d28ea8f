internal import ExecutionContexts

/// Numbers for the objects of one schedule, in the order in which it made or found them.
///
/// Most programs make theirs in the body, which runs alone. So an object mostly has the same number
/// in each schedule, where its address differs.
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
    /// The program has made an object.
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
