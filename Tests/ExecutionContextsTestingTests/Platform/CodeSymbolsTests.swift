import Dispatch
import ExecutionContexts
import ExecutionContextsDiagnostics
import TestSupport
import Testing

/// What the debug information says of code. Apple's systems have none in a program's file, and a
/// release build merges functions.
@Suite(.patient)
struct CodeSymbolsTests {
    #if DEBUG && os(Linux)
    /// An array of closures would hold thunks around them.
    private struct Stored: Sendable {
        let work: Work
    }

    /// Closures on lines that follow each other.
    private static let works = [
        Stored { print(1) },
        Stored { print(2) },
        Stored { print(3) },
        Stored { print(4) },
    ]
    private static let firstLine = #line - 5

    private static let lines = (0..<works.count).map { "CodeSymbolsTests.swift:\(firstLine + $0)" }

    /// What is found for each closure, by the first of its two words, the address of its code.
    private static func found() -> [String?] {
        works.map { stored in
            CodeSymbols.line(
                at: unsafe withUnsafeBytes(of: stored) { unsafe $0.load(as: UInt.self) })?.name
        }
    }

    @Test func `The line of each closure is found`() {
        #expect(Self.found() == Self.lines)
    }

    @Test func `A line has the path of its file`() throws {
        let address = unsafe withUnsafeBytes(of: Self.works[0]) { unsafe $0.load(as: UInt.self) }
        let line = try #require(CodeSymbols.line(at: address))
        #expect(line.path == #filePath)
    }

    /// In a process of its own, where no thread has read the table of lines before.
    @Test func `Threads that ask first, and at once, find the same lines`() async {
        await #expect(processExitsWith: .success) {
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                precondition(Self.found() == Self.lines, "\(Self.found())")
            }
        }
    }
    #endif
}
