public import Pipeline

private enum AdditionalTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// No sooner than this after it began the call succeeds; zero for at once.
    ///
    /// A failure is told at once, unless the plugin is for results of all kinds, ``MinimumDurationPlugin/Results/always``.
    /// Wins over the minimum of ``MinimumDurationPlugin``, which holds the answer back: without that plugin in the stack it does
    /// nothing. Default `nil`: the plugin's.
    public var additionalTimeout: Duration? {
        get { self[AdditionalTimeout.self] }
        set {
            if let newValue { precondition(newValue >= .zero, "additionalTimeout is \(newValue), less than zero") }
            self[AdditionalTimeout.self] = newValue
        }
    }
}
