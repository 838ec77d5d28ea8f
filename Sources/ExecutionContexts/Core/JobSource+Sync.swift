internal import CPlatform

// Swift passes a closure as two words, and does not say what they are.
@_silgen_name("ec_code_of")
private func codeOf<Value, Failure: Error>(_ body: () throws(Failure) -> Value) -> UInt

// The body of a `sync` does not escape, and its caller waits. So what is known of it is beside the
// call, on the stack of the caller, and a word of the thread points there.
extension JobSource {
    /// Calls `sync` of `base`, which is called for `body` and may be given another closure.
    ///
    /// Only a view that takes the source at once is told: others may run other jobs first.
    package static func passing<Value, Failure: Error, Result, Problem: Error>(
        _ body: () throws(Failure) -> Value, to base: some ExecutionContext,
        sync: () throws(Problem) -> Result
    ) throws(Problem) -> Result {
        guard isRead else { return try sync() }
        return try takeOfSync(body).passing(to: base, sync: sync)
    }

    /// Calls `sync` of `base`, whose body comes from here.
    package func passing<Result, Problem: Error>(
        to base: some ExecutionContext, sync: () throws(Problem) -> Result
    ) throws(Problem) -> Result {
        guard base.facts.takesSource else { return try sync() }
        return try unsafe withUnsafePointer(to: self) { (source) throws(Problem) in
            unsafe ec_set_sync_source(source)
            defer { ec_set_sync_source(nil) }
            return try sync()
        }
    }

    /// The source of a body that the caller is to run: what a view above has said, or its code.
    package static func takeOfSync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) -> JobSource {
        guard let known = unsafe ec_sync_source() else {
            return JobSource(CodePlace(code: codeOf(body)))
        }
        ec_set_sync_source(nil)
        // Of a caller that waits on this thread's stack.
        return unsafe known.assumingMemoryBound(to: JobSource.self).pointee
    }
}
