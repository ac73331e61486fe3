public import HTTPTypes

/// What a server asks for with WWW-Authenticate: a scheme, and what it says about it.
///
/// ```swift
/// let challenges = AuthenticationChallenge.challenges(in: response.headers)
/// challenges.first { $0.isScheme("Bearer") }?["error"]  // invalid_token
/// ```
///
/// **Effects**: several challenges in one field, and several fields, are all read, in their order. What follows no grammar is left out as far as
/// it reaches: a challenge with a parameter that is broken or stands twice, and whatever stands before the first scheme of
/// a field. No more than 16 challenges are read, and of one that has more than 32 parameters nothing. The time is
/// linear in the length of the fields.
///
/// Source: RFC 9110 §11, https://www.rfc-editor.org/rfc/rfc9110.html#section-11
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme as it was sent, such as `Digest`; see ``isScheme(_:)``.
    public let scheme: String

    /// The token after the scheme, as `Negotiate` sends it; `nil` when there are parameters, or nothing.
    public let token: String?

    /// The parameters, their names in lower case, their values without quotes.
    public internal(set) var parameters: [String: String]

    /// Makes a challenge.
    ///
    /// - Parameters:
    ///   - scheme: the scheme.
    ///   - token: the token after it.
    ///   - parameters: the parameters; case does not count in their names.
    public init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token = token
        self.parameters = Dictionary(parameters.map { ($0.lowercased(), $1) }) { _, last in last }
    }

    /// The realm: which accounts the server means, a text for people.
    public var realm: String? { self["realm"] }

    /// The value of a parameter; case does not count in its name.
    public subscript(name: String) -> String? { parameters[name.lowercased()] }

    /// Whether the scheme is this one; case does not count.
    public func isScheme(_ name: String) -> Bool { scheme.lowercased() == name.lowercased() }

    /// The challenges of all fields of this name.
    ///
    /// - Parameters:
    ///   - fields: the header fields of a response.
    ///   - name: WWW-Authenticate, or Proxy-Authenticate.
    /// - Returns: the challenges in the order in which they stand there.
    public static func challenges(
        in fields: HTTPFields,
        name: HTTPField.Name = .wwwAuthenticate
    ) -> [AuthenticationChallenge] {
        let limit = ChallengeParser.maximumChallengeCount
        return fields[values: name].reduce(into: []) { challenges, value in
            challenges += ChallengeParser.challenges(of: value, atMost: limit - challenges.count)
        }
    }
}
