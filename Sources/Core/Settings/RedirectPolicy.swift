import HTTPTypes

/// A policy that decides which redirects the core follows; transports follow none.
///
/// A response with status 301, 302, 303, 307 or 308 is followed if it has exactly one Location with an http or https
/// URL. If a redirect is refused, it becomes the call's response, and ``PipelineExchange/refusedRedirect`` gives the
/// reason.
///
/// **Effects**
///
/// - 301 and 302 turn POST into GET; 303 turns every method except HEAD and GET into GET. This drops the body and the
///   fields that describe it. Other redirects keep the method and the body, and are refused if the body is not
///   replayable.
/// - If a redirect leaves the origin (scheme, host, port), Authorization, Cookie, Proxy-Authorization, Origin and every
///   field marked as secret are dropped. Later hops do not restore them.
/// - The body of a redirect that is followed is discarded, see ``PipelineResponse/discardBody(_:within:)``.
///   `didReceive` sees the body in memory if it ended in time; otherwise the response has none.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `maximumHopCount` | 20 | 0 and up |
/// | `allowsDowngrade` | `false`: https never leads to http | |
/// | `filter` | follows all | |
///
/// **Errors**: more than `maximumHopCount` hops fail with ``PipelineError/Code-swift.struct/redirect(_:)`` and the last
/// response.
///
/// Source: RFC 9110 §15.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.4
public struct RedirectPolicy: Sendable {
    /// The maximum number of redirects that are followed in a row.
    public var maximumHopCount: Int
    /// Whether a redirect may lead from https to http.
    public var allowsDowngrade: Bool
    /// Returns whether to follow a redirect, given the response and the request that it leads to; `nil` follows all.
    public var filter: (@Sendable (_ response: PipelineResponse, _ next: PipelineRequest) -> Bool)?

    private var isEnabled = true

    /// Follows up to 20 redirects, never from https to http.
    public static let standard = RedirectPolicy()

    /// Follows no redirects; each one becomes the call's response.
    public static let never: RedirectPolicy = {
        var policy = RedirectPolicy()
        policy.isEnabled = false
        return policy
    }()

    /// Makes a policy, with the defaults in the table above.
    public init(
        maximumHopCount: Int = 20,
        allowsDowngrade: Bool = false,
        filter: (@Sendable (_ response: PipelineResponse, _ next: PipelineRequest) -> Bool)? = nil
    ) {
        precondition(maximumHopCount >= 0, "maximumHopCount is \(maximumHopCount), not 0 or more")
        self.maximumHopCount = maximumHopCount
        self.allowsDowngrade = allowsDowngrade
        self.filter = filter
    }
}

extension RedirectPolicy {
    /// Why a redirect was not followed.
    public enum Refusal: String, Sendable {
        /// The policy is ``RedirectPolicy/never``.
        case disabled
        /// Location is missing, repeated, or not an http or https URL.
        case location
        /// The redirect would lead from https to http.
        case downgrade
        /// The body would have to be sent again and is not replayable.
        case bodyNotReplayable
        /// The policy's filter returned `false`.
        case filter
    }

    enum Decision: Sendable {
        case noRedirect
        case refuse(Refusal)
        case follow(PipelineRequest, leavesOrigin: Bool)
    }

    /// Returns what to do after a response.
    ///
    /// - Parameters:
    ///   - response: the response; Location is resolved against its request as it was sent.
    ///   - entry: the request that entered the hop; the next request is derived from it.
    /// - Returns: whether to follow, and the next request.
    func decision(after response: PipelineResponse, to entry: PipelineRequest) -> Decision {
        guard Self.isRedirect(response.statusCode) else { return .noRedirect }
        guard isEnabled else { return .refuse(.disabled) }
        let request = response.request
        let base = URLText.RequestTarget(of: request.head)
        guard let location = Self.location(in: response.headers),
            let target = URLText.resolve(location, against: base)
        else { return .refuse(.location) }
        guard allowsDowngrade || target.scheme == "https" || base.scheme == "http" else { return .refuse(.downgrade) }

        var next = entry
        Self.changeMethod(of: &next, after: response.statusCode)
        guard next.body.isReplayable else { return .refuse(.bodyNotReplayable) }
        // A name that was secret once stays secret wherever the next request is shown.
        if !request.secretFields.isSubset(of: next.secretFields) { next.secretFields.formUnion(request.secretFields) }
        if !request.secretQueryNames.isEmpty { next.secretQueryNames.formUnion(request.secretQueryNames) }
        let origin = PipelineRequest.Origin(scheme: target.scheme, authority: target.authority.lowercased())
        let leavesOrigin = origin != request.origin || request.origin != entry.origin
        if leavesOrigin { Self.dropSecrets(of: &next) }
        next.head.scheme = target.scheme
        next.head.authority = target.authority
        next.head.path = target.pathAndQuery
        if let host = HTTPField.Name("Host") { next.headers[host] = nil }
        if let filter, !filter(response, next) { return .refuse(.filter) }
        return .follow(next, leavesOrigin: leavesOrigin)
    }

    /// Returns whether a status is that of a redirect.
    static func isRedirect(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the URL that a redirect names, or `nil` if it names none or several.
    ///
    /// Foundation joins two fields into one value with a comma and a space. A URL never contains a space, so such a
    /// value is refused, whichever transport delivers it.
    ///
    /// Source: RFC 9110 §10.2.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.2
    private static func location(in fields: HTTPFields) -> String? {
        let locations = fields[values: .location]
        guard locations.count == 1, let location = locations.first, !location.contains(", ") else { return nil }
        return location
    }

    private static func changeMethod(of request: inout PipelineRequest, after statusCode: Int) {
        let becomesGet =
            switch statusCode {
            case 301, 302: request.method == .post
            case 303: request.method != .head && request.method != .get
            default: false
            }
        guard becomesGet else { return }
        request.method = .get
        request.body = .absent
        for name in Self.bodyFields { request.headers[name] = nil }
    }

    private static func dropSecrets(of request: inout PipelineRequest) {
        for name in request.secretFields.union([.authorization, .cookie, .proxyAuthorization, .origin]) {
            request.headers[name] = nil
        }
    }

    private static let bodyFields: [HTTPField.Name] =
        [
            .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation, .contentRange,
            .contentDisposition, .lastModified, .expect,
        ]
        + ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"].compactMap { HTTPField.Name($0) }

    /// Returns the error for a chain that is too long; it is a loop if it returns to an earlier URL.
    static func tooManyHops(_ response: PipelineResponse, leadingTo next: PipelineRequest) -> PipelineError {
        let isLoop = response.exchanges.contains {
            $0.request.head.scheme == next.head.scheme && $0.request.head.authority == next.head.authority
                && $0.request.head.path == next.head.path
        }
        return PipelineError(
            .redirect(isLoop ? .loop : .tooMany),
            "more redirects than are followed, the last leading to \(next.host ?? "")",
            response: response
        )
    }
}
