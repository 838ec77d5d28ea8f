import ExecutionContexts
import Foundation
import TestSupport
import Testing

// The snippets of the document on the coordination utilities, unchanged. Each test checks what the
// document says of its snippet.

@Suite(.patient)
struct ThreadLocalValue001Tests {
    @Test func `Law 21: the snippet's full keys consist of namespace and key`() {
        let loggerDateFormatter = ThreadLocalValue<DateFormatter>(
            namespace: "Logger", key: "dateFormatter")

        let saleDateFormatter = ThreadLocalValue<DateFormatter>(
            namespace: "SaleViewModel", key: "dateFormatter")

        #expect(loggerDateFormatter.fullKey == "Logger.dateFormatter")
        #expect(saleDateFormatter.fullKey == "SaleViewModel.dateFormatter")
        #expect(ThreadLocalValue<DateFormatter>(key: "dateFormatter").fullKey == "dateFormatter")
    }

    @Test func `Law 21: the snippet's two formatters do not clash`() async {
        let seen = await onOwnThread {
            let loggerDateFormatter = ThreadLocalValue<DateFormatter>(
                namespace: "Logger", key: "dateFormatter")
            let saleDateFormatter = ThreadLocalValue<DateFormatter>(
                namespace: "SaleViewModel", key: "dateFormatter")
            let (ofLogger, ofSale) = (DateFormatter(), DateFormatter())
            loggerDateFormatter.set(ofLogger)
            let isSaleEmpty = saleDateFormatter.value() == nil
            saleDateFormatter.set(ofSale)
            let inDictionary =
                Thread.current.threadDictionary["Logger.dateFormatter"] as? DateFormatter
            return [
                isSaleEmpty, loggerDateFormatter.value() === ofLogger,
                saleDateFormatter.value() === ofSale,
                inDictionary === ofLogger,
            ]
        }
        #expect(seen == [true, true, true, true])
    }

    @Test func `Law 22: the snippet's formatter is made once a thread and cached`() async {
        let made = Lines()
        let df = ThreadLocalValue<DateFormatter>(namespace: "Events", key: "dateFormatter") { _ in
            let fmt = DateFormatter()
            fmt.locale = Locale(identifier: "en_US")
            fmt.timeZone = TimeZone(secondsFromGMT: 0)
            fmt.dateFormat = "yyyyMMdd_HHmmss"
            made.add("made")
            return fmt
        }
        for threads in 1...2 {
            let seen = await onOwnThread {
                let before = df.cachedValue()
                let first = df.value()
                let isSame = df.value() === first && df.cachedValue() === first
                return (before == nil, isSame, first?.string(from: Date(timeIntervalSince1970: 0)))
            }
            #expect(seen.0 && seen.1)
            #expect(seen.2 == "19700101_000000")
            #expect(made.all.count == threads)
        }
    }

    @Test func `Law 22: the instantiator is called again after the value was set to nil`() async {
        let made = Lines()
        let local = ThreadLocalValue<String>(namespace: "Events", key: "title") { _ in
            made.add("made")
            return "from the instantiator"
        }
        let seen = await onOwnThread {
            var seen = [local.value()]
            local.set("set")
            seen.append(local.value())
            local.set(nil)
            seen.append(local.cachedValue())
            seen.append(local.value())
            return seen
        }
        #expect(seen == ["from the instantiator", "set", nil, "from the instantiator"])
        #expect(made.all.count == 2)
    }

    @Test func `Law 22: an instantiator that returns nil stores nothing`() async {
        let local = ThreadLocalValue<String>(namespace: "Events", key: "nothing") { _ in nil }
        let isEmpty = await onOwnThread {
            local.value() == nil && Thread.current.threadDictionary["Events.nothing"] == nil
        }
        #expect(isEmpty)
    }
}
