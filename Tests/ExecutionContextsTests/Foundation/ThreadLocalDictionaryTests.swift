import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 21: where thread-locals live, and which code shares them. Each test has a thread of its own.
@Suite(.patient)
struct ThreadLocalDictionaryTests {
    @Test func `Law 21: the full key is namespace, dot and key, or the key alone`() {
        let both = ThreadLocalValue<Int>(namespace: "Logger", key: "level")
        #expect((both.namespace, both.key, both.fullKey) == ("Logger", "level", "Logger.level"))
        let key = ThreadLocalValue<Int>(key: "level")
        #expect((key.namespace, key.key, key.fullKey) == (nil, "level", "level"))
        let none = ThreadLocalValue<Int>()
        #expect((none.namespace, none.key, none.fullKey) == (nil, nil, nil))
    }

    @Test func `Law 21: the thread's dictionary holds a value with a key unwrapped`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let formatter = ThreadLocalValue<DateFormatter>(
                    namespace: "Logger", key: "dateFormatter"
                ) {
                    _ in
                    DateFormatter()
                }
                let made = formatter.value()
                #expect(made != nil)
                #expect(Self.dictionary["Logger.dateFormatter"] as? DateFormatter === made)
                formatter.set(nil)
                #expect(Self.dictionary["Logger.dateFormatter"] == nil)
            }
        }
    }

    @Test
    func `Law 21: a thread-local sees values that other code stores and removes under its key`()
        async
    {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let local = ThreadLocalValue<String>(namespace: "a", key: "b") { _ in "made" }
                Self.dictionary["a.b"] = "theirs"
                #expect([local.value(), local.cachedValue()] == ["theirs", "theirs"])
                Self.dictionary["a.b"] = NSString("theirs again")
                #expect(local.value() == "theirs again")
                Self.dictionary.removeObject(forKey: "a.b")
                #expect(local.cachedValue() == nil)
                #expect(local.value() == "made")
            }
        }
    }

    @Test func `Law 21: thread-locals of equal full keys share a value, others do not`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let locals = [
                    ThreadLocalValue<Int>(namespace: "a.b", key: "c"),
                    ThreadLocalValue<Int>(namespace: "a", key: "b.c"),
                    ThreadLocalValue<Int>(key: "a.b.c"),
                ]
                let others = [
                    ThreadLocalValue<Int>(namespace: "b", key: "c"),
                    ThreadLocalValue<Int>(key: "c"),
                    ThreadLocalValue<Int>(),
                ]
                for (number, local) in locals.enumerated() {
                    local.set(number)
                    #expect(locals.map { $0.value() } == [number, number, number])
                }
                #expect(others.map { $0.value() } == [nil, nil, nil])
            }
        }
    }

    @Test func `Laws 21, 22: nested instantiators of one key make one value`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let census = Census()
                let inner = ThreadLocalValue<Resident>(key: "shared") { _ in
                    Resident(census, number: 1)
                }
                let outer = ThreadLocalValue<Resident>(key: "shared") { _ in
                    _ = inner.value()
                    return Resident(census, number: 2)
                }
                #expect(outer.value()?.number == 1)
                #expect(inner.value() === outer.value())
            }
        }
    }

    @Test func `Law 21: a value of another type reads as nil, and value() replaces it`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let text = ThreadLocalValue<String>(key: "mixed")
                let number = ThreadLocalValue<Int>(key: "mixed") { _ in 4 }
                let date = ThreadLocalValue<Date>(key: "mixed")
                let object = ThreadLocalValue<Census>(key: "mixed")
                text.set("text")
                #expect(number.cachedValue() == nil)
                #expect(date.value() == nil)
                #expect(object.value() == nil)
                #expect(number.value() == 4)
                #expect(text.value() == nil)
            }
        }
    }

    @Test func `Law 21: values are bridged in both directions, as by the dictionary`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let number = ThreadLocalValue<Int>(key: "bridged")
                number.set(5)
                #expect(Self.dictionary["bridged"] as? NSNumber == 5)
                #expect(Self.dictionary["bridged"] as? Int == 5)
                #expect(ThreadLocalValue<NSNumber>(key: "bridged").value() == 5)
                Self.dictionary["bridged"] = NSNumber(value: 6)
                #expect(number.value() == 6)
                Self.dictionary["bridged"] = 7
                #expect(number.value() == 7)
                // A number reads as every type that can represent it.
                #expect(ThreadLocalValue<Double>(key: "bridged").value() == 7)
                #expect(ThreadLocalValue<Int8>(key: "bridged").value() == 7)
                Self.dictionary["bridged"] = 700
                #expect(ThreadLocalValue<Int8>(key: "bridged").value() == nil)
                let text = ThreadLocalValue<NSString>(key: "bridged text")
                text.set("text")
                #expect(Self.dictionary["bridged text"] as? String == "text")
                #expect(ThreadLocalValue<String>(key: "bridged text").value() == "text")
                struct Plain: Equatable { var one = 1; var two = "2" }
                let plain = ThreadLocalValue<Plain>(key: "plain")
                plain.set(Plain())
                #expect(plain.value() == Plain())
                #expect(Self.dictionary["plain"] as? Plain == Plain())
            }
        }
    }

    @Test func `Law 21: withValue restores the value of other code, whatever its type`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let local = ThreadLocalValue<Int>(key: "theirs")
                Self.dictionary["theirs"] = "text"
                local.withValue(1) { #expect(Self.dictionary["theirs"] as? Int == 1) }
                #expect(Self.dictionary["theirs"] as? String == "text")
            }
        }
    }

    @Test func `Law 21: the source's date formatter is cached for each thread`() async {
        await offThePool {
            OwnThread.onEach(2) { _ in
                let df = ThreadLocalValue<DateFormatter>(namespace: "Events", key: "dateFormatter")
                { _ in
                    let fmt = DateFormatter()
                    fmt.locale = Locale(identifier: "en_US")
                    fmt.timeZone = TimeZone(secondsFromGMT: 0)
                    fmt.dateFormat = "yyyyMMdd_HHmmss"
                    return fmt
                }
                #expect(df.fullKey == "Events.dateFormatter")
                #expect(df.cachedValue() == nil)
                #expect(
                    df.value()?.string(from: Date(timeIntervalSince1970: 0)) == "19700101_000000")
                #expect(df.value() === df.cachedValue())
            }
        }
    }

    @Test func `Law 21: the source's two formatters do not share a value`() async {
        await offThePool {
            OwnThread.onEach(1) { _ in
                let loggerDateFormatter = ThreadLocalValue<DateFormatter>(
                    namespace: "Logger", key: "dateFormatter")
                let saleDateFormatter = ThreadLocalValue<DateFormatter>(
                    namespace: "SaleViewModel", key: "dateFormatter")
                loggerDateFormatter.set(DateFormatter())
                #expect(saleDateFormatter.value() == nil)
                #expect(loggerDateFormatter.value() != nil)
            }
        }
    }

    private static var dictionary: NSMutableDictionary { Thread.current.threadDictionary }
}
