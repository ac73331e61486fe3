extension PipelineContext {
    /// Why a cache has sent the latest request of the call to the origin; `nil` without a cache.
    ///
    /// A cache sets it to a value of the parameter `fwd` of Cache-Status, such as `uri-miss` or `stale`, or to a reason
    /// of its own. A background call inherits it. Recordings show it in the member `cache` of an entry.
    ///
    /// Source: RFC 9211 §2.2, https://www.rfc-editor.org/rfc/rfc9211.html#section-2.2
    public var forwardReason: String? {
        get { self[ForwardReason.self] }
        nonmutating set { update(ForwardReason.self) { $0 = newValue } }
    }
}

private enum ForwardReason: PipelineContextKey {
    static let defaultValue: String? = nil
    static let isInherited = true
}
