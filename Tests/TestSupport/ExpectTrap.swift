package import Testing

/// Expects that a process trapped with a message that contains all the parts.
package func expectTrap(
    _ result: ExitTest.Result?, _ parts: String...,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let output = try #require(result, sourceLocation: sourceLocation).standardErrorContent
    let text = String(decoding: output, as: UTF8.self)
    for part in parts { #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation) }
}
