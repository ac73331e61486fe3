public import PipelineCore

private enum ReportsDeprecation: RequestOptions.Key {
    static let defaultValue = true
}

extension RequestOptions {
    /// Whether ``DeprecationPlugin`` reports announcements in the responses of the call; defaults to `true`.
    ///
    /// Set it to `false` for a resource that you use in spite of its announcement.
    public var reportsDeprecation: Bool {
        get { self[ReportsDeprecation.self] }
        set { self[ReportsDeprecation.self] = newValue }
    }
}
