/// A plain variable of the program, checked by simulations for data races.
///
/// A class whose state is guarded by a lock, an actor or a serial context has plain variables. With
/// `@Shared` they remain plain variables, but their reads and writes are scheduling points:
///
/// ```swift
/// final class Inbox: @unchecked Sendable {
///     @Shared private var letters: [String] = []
///     private let section = CriticalSection()
///
///     func add(_ letter: String) { section.execute { letters.append(letter) } }
///     var count: Int { letters.count }           // forgets the section
/// }
/// ```
///
/// If one thread is about to write the variable while another one is about to read or write it, the
/// simulation fails with `.dataRace` and names both lines. The guard may be one that the simulation
/// does not see, as a `Mutex`: then two threads never get that far at once.
///
/// Outside of a simulation each access takes a lock, so there is no data race.
@propertyWrapper
public final class Shared<Value: Sendable>: Sendable {
    private let tracked: Tracked<Value>

    /// Creates a variable, named after its place in the source in the text of a failure.
    public convenience init(
        wrappedValue: Value, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let file = "\(fileID)".split(separator: "/").last ?? ""
        self.init(wrappedValue, name: "\(file):\(line)")
    }

    /// Creates a variable, with its name in the text of a failure.
    public convenience init(wrappedValue: Value, _ name: String) {
        self.init(wrappedValue, name: name)
    }

    /// Creates a variable that is not a property, with its name in the text of a failure.
    public init(_ value: Value, name: String) { tracked = Tracked(value, name: name) }

    /// The value. A read is one operation, a write another.
    public var wrappedValue: Value {
        get { tracked.read(isPlain: true) }
        set { tracked.write(newValue, isPlain: true) }
    }

    /// The value of a variable that is not a property.
    public var value: Value {
        get { wrappedValue }
        set { wrappedValue = newValue }
    }
}
