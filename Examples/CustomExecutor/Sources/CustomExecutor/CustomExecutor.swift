import Foundation

/// Shows how to write an executor: in one method, in full, and for actors.
///
/// Then it shows how the law kit finds mistakes in executors.
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
