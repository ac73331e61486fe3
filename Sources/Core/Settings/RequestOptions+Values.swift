extension RequestOptions {
    /// The longest that one exchange with the network may take.
    ///
    /// The exchange ends with the last byte of its response, or with the header fields for a call made with `stream`.
    /// The time starts when the transport reports that the exchange has a connection. If the transport cannot report
    /// this, as with `URLSessionTransport`, the time starts with the call of ``Transport/send(_:context:)``, so a wait
    /// for a busy connection counts. The transport has its own limit for this wait, which fails with `timeout.pool` or
    /// `timeout.connect`.
    ///
    /// The core measures the time on the provider's clock for every transport. An exchange that takes longer fails with
    /// ``PipelineError/Code-swift.struct/timeout(_:)`` and `.attempt`. The core cancels the transport and waits for it
    /// to end.
    ///
    /// Defaults to `nil`: the time that a plugin sets in ``PipelineRequest/attemptTimeout`` applies. Without one, only
    /// the transport's own idle timeout applies.
    public var attemptTimeout: Duration? {
        get { self[AttemptTimeout.self] }
        set {
            PipelineRequest.check(newValue, "attemptTimeout")
            self[AttemptTimeout.self] = newValue
        }
    }

    /// The longest that the body of a response may go without a byte, once its header fields have arrived.
    ///
    /// It applies to a body that is buffered, written to a file or read as a stream. Time counts only while a reader
    /// waits for bytes, so a slow reader is not mistaken for a slow server. ``attemptTimeout`` limits the wait for the
    /// header fields.
    ///
    /// The core measures the time on the provider's clock, and the transport delivers the body as it arrives. If the
    /// clock is the system's, a transport that buffers a body may measure the time instead; see
    /// ``Transport/enforcesIdleTimeout(_:)``. A body that exceeds the limit fails with
    /// ``PipelineError/Code-swift.struct/timeout(_:)`` and `.idle`, and the exchange is closed.
    ///
    /// Defaults to `nil`: the time that a plugin sets in ``PipelineRequest/idleTimeout`` applies. Without one, only the
    /// transport's own idle timeout applies.
    public var idleTimeout: Duration? {
        get { self[IdleTimeout.self] }
        set {
            PipelineRequest.check(newValue, "idleTimeout")
            self[IdleTimeout.self] = newValue
        }
    }

    /// The shortest time from the start of the call to its result, zero and up; zero means no delay.
    ///
    /// Advisory: MinimumDurationPlugin delays the result, and this value overrides its own minimum. A failure is
    /// delayed only if the plugin applies to all results. Defaults to `nil`: the plugin's minimum.
    public var minimumDuration: Duration? {
        get { self[MinimumDuration.self] }
        set {
            if let newValue { precondition(newValue >= .zero, "minimumDuration is \(newValue), less than zero") }
            self[MinimumDuration.self] = newValue
        }
    }

    /// Returns the user-facing text for a call's failure, which becomes ``PipelineError/customText``.
    ///
    /// It is called once a call has failed, after every plugin and before `didFinish`. Return `nil` for a failure
    /// without a text of its own. Defaults to `nil`: no text.
    public var errorText: (@Sendable (PipelineError) -> String?)? {
        get { self[ErrorText.self] }
        set { self[ErrorText.self] = newValue }
    }

    /// Whether the call itself requests a token, as a login or a refresh does, so that `TokenRefreshPlugin` leaves it
    /// alone.
    ///
    /// Such a call gets no token, waits for no refresh and causes none, whatever the response. Its ``priority`` is high
    /// unless set. No plugin has to handle the option. Defaults to `false`.
    public var isTokenRequest: Bool {
        get { self[IsTokenRequest.self] }
        set { self[IsTokenRequest.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The option ``RequestOptions/minimumDuration``, which MinimumDurationPlugin handles.
    public static let minimumDuration = Self("minimumDuration", of: "MinimumDurationPlugin")
}

extension PipelineError {
    /// Returns a copy with the call's target, its timeline, and the text that the call's options return for it.
    func described(by call: CallState) -> PipelineError {
        var copy = self
        copy.target = call.target
        copy.timeline = call.shownTimeline
        if let text = call.options.errorText?(copy) { copy.customText = text }
        return copy
    }
}

private enum AttemptTimeout: RequestOptions.Key {
    static let defaultValue: Duration? = nil
}

private enum IdleTimeout: RequestOptions.Key {
    static let defaultValue: Duration? = nil
}

private enum MinimumDuration: RequestOptions.Key {
    static let defaultValue: Duration? = nil

    static func pluginOption(for value: Duration?) -> RequestOptions.PluginOption? {
        if let value, value > .zero { .minimumDuration } else { nil }
    }
}

private enum ErrorText: RequestOptions.Key {
    static let defaultValue: (@Sendable (PipelineError) -> String?)? = nil
}

private enum IsTokenRequest: RequestOptions.Key {
    static let defaultValue = false
}
