/// Traps with a message: what happened, which law, what to do.
///
/// Not `preconditionFailure`, which prints nothing in release builds, where the message is needed
/// most.
package func stopMisuse(
    _ message: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) -> Never {
    let text = message()
    TrapHook.call(text)
    fatalError(text, file: file, line: line)
}

/// Traps with a message unless `condition` holds.
package func require(
    _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #file,
    line: UInt = #line
) {
    if !condition { stopMisuse(message(), file: file, line: line) }
}
