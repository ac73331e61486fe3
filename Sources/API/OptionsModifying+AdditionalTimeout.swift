public import PipelineCore

extension OptionsModifying {
    /// Returns a copy whose call takes at least this long to succeed, by setting `RequestOptions.minimumDuration`; zero
    /// or more.
    ///
    /// A failure is not delayed unless MinimumDurationPlugin applies to all results, `appliesTo: .always`.
    public func additionalTimeout(_ duration: Duration) -> Self { options { $0.minimumDuration = duration } }
}
