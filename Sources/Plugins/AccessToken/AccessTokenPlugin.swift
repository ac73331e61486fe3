import HTTPTypes
public import Pipeline

/// Sets Authorization for targets that ask for an access token.
///
/// A target asks by conforming to `AccessTokenAuthorizable` with a type that is not `nil`, also inside a `MultiTarget`.
///
/// ```swift
/// AccessTokenPlugin { target in try await session.token(for: target) }
/// ```
///
/// **Position**: inside a plugin that sends again, so that each attempt gets a fresh token; outside it the token of the
/// first attempt is sent with every one. Outside a plugin that signs or shares requests.
///
/// **Effects**: sets Authorization to `<type> <token>`, replacing what is there; the token is sent as given, for `.basic`
/// too. Requests of other targets are untouched, and the closure is not asked for them. Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `allowsCleartext` | `false`: no token leaves over http, except to the machine itself |
///
/// **Errors**: what the closure throws, as the underlying error of code `plugin`; `invalidRequest.headerValue` for a token
/// with a character that may not stand in a field; `invalidRequest.credential` over http to another machine.
///
/// **Secrets**: the field is dropped when a redirect leaves the origin, and no error names the token.
///
/// Source: RFC 6750 §2.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1
public struct AccessTokenPlugin: Stage.Prepare {
    private let allowsCleartext: Bool
    private let token: @Sendable (any TargetType) async throws -> String

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - allowsCleartext: whether a token may leave over http; always allowed to the machine itself.
    ///   - token: gives the token for a target; it may wait, and may throw.
    public init(
        allowsCleartext: Bool = false,
        token: @escaping @Sendable (any TargetType) async throws -> String
    ) {
        self.allowsCleartext = allowsCleartext
        self.token = token
    }

    /// Sets Authorization for targets that ask for it.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let target = context.target as? any AccessTokenAuthorizable, let type = target.authorizationType else {
            return
        }
        guard allowsCleartext || request.head.scheme == "https" || Self.isLoopback(request.host ?? "") else {
            throw PipelineError(
                .invalidRequest(.credential),
                "an access token would leave over http, readable on the way"
            )
        }
        let token = try await token(context.target)
        try request.setHeader(type.scheme + " " + token, for: .authorization, isSecret: true)
    }

    private static func isLoopback(_ authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" }.dropFirst())
            : String(authority.prefix { $0 != ":" })
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}
