extension TokenRefreshState {
    /// The credential that a call is sent with.
    struct Ticket: Sendable {
        let credential: Credential
        let generation: Int
        /// The number of refreshes that had failed when the ticket was issued.
        let failureCount: Int
    }

    /// A refresh.
    struct Flight: Sendable {
        let id: Int
        /// The generation of the credential that it replaces.
        let generation: Int
        let credential: Credential?
    }

    /// A change of the credential; its number is the generation that it began.
    struct Change: Sendable {
        let number: Int
        let credential: Credential?
        let reason: TokenCredentialChange
        /// Filled when the change has been reported.
        let ending = TokenWaiter<Void>()
    }

    /// What a call may do to get a token.
    enum Patience: Sendable {
        /// It must not wait: its deadline has passed, or its body cannot be sent a second time.
        case none
        /// It may wait for a refresh in progress.
        case join
        /// It may also start a refresh.
        case start
    }

    /// The ticket of a call, `nil` if it is sent without one.
    typealias Outcome = Result<Ticket?, TokenRefreshFailure>
    typealias Waiter = TokenWaiter<Outcome>

    /// The next step of a call.
    enum Admission: Sendable {
        case proceed(Outcome)
        case wait(Waiter)
        /// The call returns its response.
        case giveBack
    }

    /// What to do after an event.
    struct Effects: Sendable {
        /// Whether to cancel the refresh that occupied the slot.
        var cancelsRefresh = false
        /// Whether to stop the timer of the refresh that occupied the slot.
        var stopsTimer = false
        var resumed: [Waiter] = []
        /// The result for the waiters that resume.
        var outcome = Outcome.success(nil)
        var report: Change?
        /// The change of the credential, for those that watch it.
        var change: TokenRefreshPlugin<Credential>.Change?
        var start: Flight?
    }
}
