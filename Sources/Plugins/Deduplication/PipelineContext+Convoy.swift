import Pipeline

private enum ConvoyKey: PipelineContextKey {
    static let defaultValue: Convoy? = nil
}

extension PipelineContext {
    /// The convoy of the exchange that the call has shared last; `nil` after an exchange of its own.
    var convoy: Convoy? { self[ConvoyKey.self] }

    /// Leaves the convoy for another, or for none.
    func join(_ convoy: Convoy?) {
        let past = self.convoy
        guard past !== convoy else { return }
        // What the past convoy keeps must not be released under the lock of the context.
        withExtendedLifetime(past) { update(ConvoyKey.self) { $0 = convoy } }
    }
}
