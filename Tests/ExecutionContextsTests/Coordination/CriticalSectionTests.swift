import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 14: one thread at a time is inside, may enter again, and leaves the section free.
@Suite(.patient)
struct CriticalSectionTests {
    @Test func `Law 14: 200 threads that change a value inside one section lose no update`() async {
        let section = CriticalSection()
        let perThread = rounds(debug: 1_000, release: 10_000)
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var count = 0
        await watched {
            onThreads(200) {
                for _ in 0..<perThread { section.execute { unsafe count += 1 } }
            }
        }
        #expect(unsafe count == 200 * perThread)
    }

    @Test
    func `Law 14: no two threads are inside at a time, and each sees the changes of the last`()
        async
    {
        let section = CriticalSection()
        let perThread = rounds(debug: 50_000, release: 1_000_000)
        // Unchecked by the compiler, guarded by the section.
        nonisolated(unsafe) var (occupants, left, right) = (0, 0, 0)
        let faults = Box(0)
        await watched {
            onThreads(4) {
                for round in 0..<perThread {
                    let isRight = section.execute {
                        unsafe occupants += 1
                        unsafe left += 1
                        // Sometimes nested: an inner exit that unlocked the section would show.
                        if round % 8 == 0 {
                            section.execute { unsafe right += 1 }
                        } else {
                            unsafe right += 1
                        }
                        defer { unsafe occupants -= 1 }
                        return unsafe occupants == 1 && left == right
                    }
                    if !isRight { faults.withValue { $0 += 1 } }
                }
            }
        }
        #expect(faults.value == 0)
        #expect(unsafe left == 4 * perThread && right == left)
    }

    @Test func `Law 14: a thread enters a thousand deep, and only the outermost exit leaves`() async
    {
        let section = CriticalSection()
        let depth = Box(0)
        @Sendable func enter(_ level: Int) {
            section.execute {
                depth.withValue { $0 += 1 }
                if level > 1 { enter(level - 1) }
                #expect(section.isCurrent == true)
                // No other thread gets in while the outermost body runs.
                if level % 500 == 0 { #expect(!isFreeElsewhere(section)) }
            }
        }
        await offThePool { enter(1_000) }
        #expect(depth.value == 1_000)
        #expect(section.isCurrent == false)
        #expect(section.executeWithTimeout(0) {})
    }

    @Test func `Law 14: the body may change its captures, and the call returns its value`() {
        let cs = CriticalSection()
        var x = 0
        cs.execute { x += 1 }
        cs.execute {
            x += 1
            x += 1
        }
        #expect(x == 3)
        #expect(cs.execute { x } == 3)
        #expect(cs.execute { () -> Int? in nil } == nil)
        // As in the source.
        let success = cs.executeWithTimeout(1.0) { x += 1 }
        #expect(success && x == 4)
        let value: Int? = cs.execute(timeout: Patience.event) { x * 2 }
        #expect(value == 8)
        let text = cs.execute { () -> NonSendable in NonSendable(text: "came through") }.text
        #expect(text == "came through")
    }

    @Test func `Law 14: the call throws the body's error and leaves the section free`() async {
        let section = CriticalSection()
        // The error is a Wrong, not any Error: it is caught without a pattern.
        do {
            try section.execute { () throws(Wrong) in throw .deliberately }
        } catch { #expect(error == .deliberately) }
        do {
            _ = try section.execute(timeout: Patience.event) { () throws(Wrong) -> Int in
                throw .deliberately
            }
        } catch { #expect(error == .deliberately) }
        do {
            _ = try section.executeWithTimeout(1) { () throws(Wrong) in
                throw .deliberately
            }
        } catch { #expect(error == .deliberately) }
        #expect(throws: Wrong.self) {
            // Thrown through two levels.
            try section.execute { try section.execute { throw Wrong.deliberately } }
        }
        #expect(section.isCurrent == false)
        await offThePool { #expect(section.executeWithTimeout(0) {}) }
    }

    @Test func `Law 14: after an error of an inner body the thread is still inside`() async {
        await offThePool {
            let section = CriticalSection()
            section.execute {
                #expect(throws: Wrong.self) { try section.execute { throw Wrong.deliberately } }
                #expect(section.isCurrent == true)
                #expect(!isFreeElsewhere(section))
            }
            #expect(isFreeElsewhere(section))
        }
    }

    @Test func `Law 14: two sections do not exclude each other`() async {
        await offThePool {
            let (one, other) = (CriticalSection(name: "one"), CriticalSection())
            one.execute { #expect(isFreeElsewhere(other)) }
            #expect(one.name == "one")
            #expect(other.name == "critical section")
        }
    }

    @Test func `In debug builds holder describes the lock owner, and is nil if there is none`()
        async
    {
        await offThePool {
            let section = CriticalSection()
            #expect(section.owner == nil)
            section.execute {
                #if DEBUG
                let seenElsewhere = Box<String?>(nil)
                onThreads(1) { seenElsewhere.value = section.owner }
                #expect(seenElsewhere.value?.contains("CriticalSectionTests.swift:") == true)
                #else
                #expect(section.owner == nil)
                #endif
            }
            #expect(section.owner == nil)
        }
    }
}

/// Whether another thread finds the section free.
func isFreeElsewhere(_ section: CriticalSection) -> Bool {
    let isFree = Box(false)
    onThreads(1) { isFree.value = section.executeWithTimeout(0) {} }
    return isFree.value
}

enum Wrong: Error, Equatable { case deliberately }

private final class NonSendable {
    let text: String
    init(text: String) { self.text = text }
}
