#if Foundation
internal import Foundation

extension ThreadLocalValue {
    /// Makes a thread-local under `namespace.key`.
    public convenience init(namespace: String, key: String, instantiator: Instantiator? = nil) {
        self.init(keyed: KeyedLocal(namespace: namespace, key: key), instantiator: instantiator)
    }

    /// Makes a thread-local under `key`.
    public convenience init(key: String, instantiator: Instantiator? = nil) {
        self.init(keyed: KeyedLocal(namespace: nil, key: key), instantiator: instantiator)
    }
}

/// An entry in the dictionary of every thread, under a key (law 21).
///
/// Nothing is kept beside the dictionary, so values that other code stores there are seen.
private struct KeyedLocal: KeyedStorage {
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

    var object: Any? {
        get { unsafe Thread.current.threadDictionary.object(forKey: name) }
        nonmutating set {
            let dictionary = Thread.current.threadDictionary
            let before = unsafe dictionary.object(forKey: name)
            if let newValue {
                unsafe dictionary.setObject(newValue, forKey: name)
                KeysOfThread.current.presentOrMade()?.keys.insert(fullKey)
            } else {
                unsafe dictionary.removeObject(forKey: name)
                KeysOfThread.current.present()?.keys.remove(fullKey)
            }
            // The old object is released here: its deinit may use the dictionary.
            withExtendedLifetime(before) {}
        }
    }

    func load<Value>() -> Value? {
        guard let object else { return nil }
        if let value = object as? Value { return value }
        // The dictionary stores nil as `NSNull`, which the cast rejects on some systems.
        guard object is NSNull, let kind = Value.self as? any ExpressibleByNilLiteral.Type else {
            return nil
        }
        return Self.null(kind)
    }

    private static func null<Null: ExpressibleByNilLiteral, Value>(_ kind: Null.Type) -> Value? {
        (nil as Null) as? Value
    }
}

/// The keys of values stored on one thread; removes the values when the thread ends (law 23).
///
/// The dictionary itself lives as long as the `Thread` object. Other code may keep that object
/// after the thread has ended, and its last release would free the values on another thread.
private final class KeysOfThread {
    var keys: Set<String> = []
    private let dictionary = Thread.current.threadDictionary

    static let current = SimulationHooks.making {
        ThreadLocalValue<KeysOfThread> { _ in KeysOfThread() }
    }

    deinit {
        for key in keys {
            let last = dictionary.object(forKey: key as NSString)
            dictionary.removeObject(forKey: key as NSString)
            withExtendedLifetime(last) {}
        }
    }
}
#endif
