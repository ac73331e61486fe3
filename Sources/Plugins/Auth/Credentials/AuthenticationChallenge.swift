public import HTTPTypes
public import PipelineCore

/// A challenge of WWW-Authenticate: the authentication scheme that a server asks for, and its parameters.
///
/// ```swift
/// let challenges = AuthenticationChallenge.challenges(in: response.headers)
/// challenges.first { $0.isScheme("Bearer") }?["error"]  // invalid_token
/// ```
///
/// **Effects**: reads all challenges of a field, and all fields, in order. Parts that do not follow the grammar are
/// left out: a challenge with a malformed or repeated parameter, and anything before the first scheme of a field. At
/// most 16 challenges are read. A challenge with more than 32 parameters is left out. The time is linear in the length
/// of the fields.
///
/// Source: RFC 9110 §11, https://www.rfc-editor.org/rfc/rfc9110.html#section-11
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme as the server sent it, such as `Digest`.
    ///
    /// To compare it, use ``isScheme(_:)``.
    public let scheme: String

    /// The token after the scheme, as in `Negotiate`; `nil` if there are parameters or nothing.
    public let token: String?

    /// The origin that asks, for the closure of ``CredentialsPlugin``; otherwise `nil`.
    public internal(set) var origin: PipelineRequest.Origin?

    /// The parameters, with names in lower case and values without quotes.
    public internal(set) var parameters: [String: String]

    /// Creates a challenge.
    ///
    /// - Parameters:
    ///   - scheme: the scheme, such as `Digest`.
    ///   - token: the token after the scheme, or `nil` for none.
    ///   - parameters: the parameters; their names are case-insensitive.
    public init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token = token
        self.parameters = Dictionary(parameters.map { ($0.lowercased(), $1) }) { _, last in last }
    }

    /// The realm, a human-readable name for the accounts that the server means; `nil` if there is none.
    public var realm: String? { self["realm"] }

    /// The value of a parameter, by its case-insensitive name; `nil` if there is none.
    public subscript(name: String) -> String? { parameters[name.lowercased()] }

    /// Returns whether the scheme has this name, ignoring case.
    public func isScheme(_ name: String) -> Bool { scheme.lowercased() == name.lowercased() }

    /// Returns the challenges of all fields with a name.
    ///
    /// - Parameters:
    ///   - fields: the header fields of a response.
    ///   - name: WWW-Authenticate or Proxy-Authenticate.
    /// - Returns: the challenges in their order in the fields.
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

extension AuthenticationChallenge: SafelyDescribed {
    /// The scheme and the names of the parameters, without their values and the token, which may belong to a session.
    public var description: String {
        let names = (token == nil ? [] : ["token"]) + parameters.keys.sorted()
        return "\(scheme.debugDescription) with \(names.isEmpty ? "no parameters" : names.joined(separator: ", "))"
    }
}
