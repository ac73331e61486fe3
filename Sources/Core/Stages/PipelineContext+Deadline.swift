private enum Deadline: PipelineContext.Key {
    static let defaultValue: PipelineClock.Instant? = nil
}

extension PipelineContext {
    /// The moment by which the call must have ended; `nil` if no plugin has set one.
    ///
    /// A plugin checks it before each wait, and must not begin a wait that would end later.
    public var deadline: PipelineClock.Instant? { self[Deadline.self] }

    /// Sets ``deadline``, unless an earlier one is already set.
    ///
    /// Advisory; the plugin that sets the deadline must enforce it.
    public func setDeadline(_ deadline: PipelineClock.Instant) {
        update(Deadline.self) { $0 = $0.map { min($0, deadline) } ?? deadline }
    }
}
