public import PipelineCore

extension ProviderConfiguration {
    /// The clock and the random numbers of the recording of the current test, for a provider that the test creates.
    ///
    /// ```swift
    /// let provider = Provider<GitHub>(transport: .replay, configuration: .replay)
    /// ```
    ///
    /// With it, dates, nonces and idempotency keys are those of the recording; see
    /// ``/PipelineRecording/ReplayTransport/configuration``. While the test records, the clock is the system's. Outside
    /// of a test with the trait `.replay("name")`, this is the default configuration. Tests cannot share such a
    /// provider.
    public static var replay: ProviderConfiguration {
        ReplaySession.current?.configuration() ?? ProviderConfiguration()
    }
}
