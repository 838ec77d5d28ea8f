extension ExecutionContext {
    /// Returns a view of this context that runs one job at a time, in order (law 2).
    ///
    /// The view makes no thread and costs a few words while idle, so make one for each thing that
    /// needs order. It drains jobs in batches, and gives the thread back after 256 jobs or about a
    /// millisecond. If the base drops a drain, the view drops its waiting jobs and continues.
    /// Callers that await the dropped jobs receive a refusal (law 1).
    public func serial(named name: String? = nil) -> SerialView {
        SerialView(base: self, name: name ?? "\(self.name).serial")
    }
}
