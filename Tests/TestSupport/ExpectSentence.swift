package import Testing

/// Expects that a program stopped with a sentence that contains all the parts.
package func expectSentence(
    _ result: ExitTest.Result?, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let output = try #require(result, sourceLocation: sourceLocation).standardErrorContent
    let text = String(decoding: output, as: UTF8.self)
    for part in parts { #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation) }
}
