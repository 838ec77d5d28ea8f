import Foundation

/// How to write an executor of your own: in one method, in full, for actors; and how the law kit finds mistakes.
@main
struct CustomExecutor {
    static func main() async throws {
        print("Executors of your own, and the laws that they keep")
        var report = Report()
        try await showOneMethod(&report)
        try await showInFull(&report)
        try await showForActors(&report)
        await showMistakes(&report)
        exit(report.conclude())
    }
}
