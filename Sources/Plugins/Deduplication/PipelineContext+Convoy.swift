import Pipeline

/// What a call has shared so far.
struct Sharing: Sendable {
    /// The convoy of the exchange that the call shared last.
    var convoy: Convoy?
    /// Whether an attempt ended with the result of another call's exchange.
    var isJoined = false
}

private enum SharingKey: PipelineContextKey {
    static let defaultValue = Sharing()
}

extension PipelineContext {
    /// What the call has shared so far.
    var sharing: Sharing { self[SharingKey.self] }

    /// The convoy of the exchange that the call shared last; `nil` after an exchange of its own.
    var convoy: Convoy? { sharing.convoy }

    /// Leaves the convoy for another, or for none.
    ///
    /// - Parameters:
    ///   - convoy: the convoy to join, or `nil` for none.
    ///   - isJoined: whether the call has the result of another call's exchange.
    func join(_ convoy: Convoy?, isJoined: Bool = false) {
        let past = sharing
        guard past.convoy !== convoy || (isJoined && !past.isJoined) else { return }
        // The past convoy's contents must not be released under the lock of the context.
        withExtendedLifetime(past) {
            update(SharingKey.self) { sharing in
                sharing.convoy = convoy
                if isJoined { sharing.isJoined = true }
            }
        }
    }
}
