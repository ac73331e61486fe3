extension PipelineContext {
    /// The origin of the request that entered this hop, before any exchange plugin changed it; `nil` in a pipeline without exchange plugins
    /// and outside exchanges.
    ///
    /// An exchange plugin that sets a credential compares it with the origin that the credential belongs to.
    public var hopOrigin: PipelineRequest.Origin? { hopEntry?.origin }
}
