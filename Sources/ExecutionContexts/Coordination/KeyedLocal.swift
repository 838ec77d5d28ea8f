internal import Foundation

/// A place in the dictionary of every thread, under a key (law 21).
///
/// Nothing is kept beside the dictionary, so whatever other code stores there is seen.
struct KeyedLocal: Sendable {
    let namespace: String?
    let key: String
    let fullKey: String
    // Unchecked: an immutable string, which threads may share.
    private nonisolated(unsafe) let name: NSString

    init(namespace: String?, key: String) {
        self.namespace = namespace
        self.key = key
        fullKey = namespace.map { "\($0).\(key)" } ?? key
        unsafe name = NSString(string: fullKey)
    }

    /// What lies there, whoever put it there.
    var object: Any? {
        get { unsafe Thread.current.threadDictionary.object(forKey: name) }
        nonmutating set {
            let dictionary = Thread.current.threadDictionary
            let before = unsafe dictionary.object(forKey: name)
            if let newValue {
                unsafe dictionary.setObject(newValue, forKey: name)
                KeyedEstate.ofThread.presentOrMade()?.keys.insert(fullKey)
            } else {
                unsafe dictionary.removeObject(forKey: name)
                KeyedEstate.ofThread.present()?.keys.remove(fullKey)
            }
            // A deinit that uses the dictionary runs when the dictionary is done.
            withExtendedLifetime(before) {}
        }
    }

    /// What lies there as a value, or nil if it is of another type.
    func load<Value>() -> Value? {
        guard let object else { return nil }
        if let value = object as? Value { return value }
        // As the dictionary has an optional that is nil; on some systems the cast says no to it.
        guard object is NSNull, let kind = Value.self as? any ExpressibleByNilLiteral.Type else { return nil }
        return Self.null(kind)
    }

    /// Puts a value there as itself, for other code to read.
    func store<Value>(_ value: Value?) {
        guard let value else { return object = nil }
        object = value as Any
    }

    private static func null<Null: ExpressibleByNilLiteral, Value>(_ kind: Null.Type) -> Value? {
        (nil as Null) as? Value
    }
}

/// What keyed thread-locals have stored on one thread: taken out of its dictionary when the thread ends (law 23).
///
/// The dictionary itself lives as long as the `Thread` object, which others may hold when the thread has ended,
/// and would then free its values on whatever thread lets go of it last.
private final class KeyedEstate {
    var keys: Set<String> = []
    private let dictionary = Thread.current.threadDictionary

    static let ofThread = Seam.making { ThreadLocalValue<KeyedEstate> { _ in KeyedEstate() } }

    deinit {
        for key in keys {
            let last = dictionary.object(forKey: key as NSString)
            dictionary.removeObject(forKey: key as NSString)
            withExtendedLifetime(last) {}
        }
    }
}
