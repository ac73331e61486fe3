private enum Deadline: PipelineContextKey {
    static let defaultValue: PipelineClock.Instant? = nil
}

extension PipelineContext {
    /// When the call has to have ended, `nil` when nobody has set a time.
    ///
    /// A plugin that means to wait looks here first: a wait that would end later is not begun.
    public var deadline: PipelineClock.Instant? { self[Deadline.self] }

    /// Sets ``deadline``; of several the earliest holds.
    ///
    /// It is told, not enforced: who sets it also ends the call.
    public func setDeadline(_ deadline: PipelineClock.Instant) {
        self[Deadline.self] = self.deadline.map { min($0, deadline) } ?? deadline
    }
}
