#if !canImport(Darwin) && !os(Linux) && !os(Android)
#error(
    "ExecutionContexts needs threads and a way to wait on a word: Apple platforms, Linux and Android."
)
#endif
