/// Stops the program with a sentence: what happened, which law, what to do.
///
/// Not `preconditionFailure`, which is silent in release builds, where the sentence is needed most.
package func stopMisuse(
    _ sentence: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) -> Never {
    fatalError(sentence(), file: file, line: line)
}

/// Stops the program with a sentence unless `condition` holds.
package func require(
    _ condition: Bool, _ sentence: @autoclosure () -> String, file: StaticString = #file,
    line: UInt = #line
) {
    if !condition { stopMisuse(sentence(), file: file, line: line) }
}
