/// Something that a plugin does and that matters for its position in a stack.
///
/// ``Provider/explain()`` derives its findings from the capabilities of the plugins and from ``OrderRule/standard``, whoever wrote the
/// plugins. Two capabilities are the same if their names are.
public struct PluginCapability: Sendable, Hashable {
    /// A verb phrase, such as `retries`.
    public let name: String

    /// Makes a capability that the library does not know, for an ``OrderRule`` of one's own.
    ///
    /// - Parameter name: a verb phrase that no other capability has.
    public init(_ name: String) {
        self.name = name
    }
}

extension PluginCapability {
    /// Retries failed requests.
    public static let retries = Self("retries")
    /// Gives several calls one response.
    public static let sharesResponses = Self("shares responses")
    /// Responds with what an earlier exchange returned.
    public static let caches = Self("caches")
    /// Sets a credential of the user or of the client.
    public static let setsCredential = Self("sets a credential")
    /// Calls ``PipelineContext/addIdentity(_:)`` for its credential, so that no two accounts share a response.
    ///
    /// It exempts an exchange plugin from the rule `sharing-outside-credential`.
    public static let identifiesCalls = Self("identifies calls")
    /// Sets an access token, and so declares ``setsCredential``, too.
    public static let setsAccessToken = Self("sets an access token")
    /// Sets header fields whose values may differ from user to user.
    public static let setsFields = Self("sets fields")
    /// Computes a signature over the request, which is a credential, too: two users must not share a response.
    public static let signs = Self("signs")
    /// Repeats a request with another credential when the response is a 401.
    public static let answersChallenges = Self("answers challenges")
    /// Reports a 401 to the application.
    public static let reportsUnauthorized = Self("reports 401")
    /// Delays results.
    public static let delaysResults = Self("delays results")
    /// Covers a call from its start to its end, as a total timeout or an activity indicator does.
    public static let spansCalls = Self("spans calls")
    /// Compresses or decompresses content.
    public static let codesContent = Self("codes content")
    /// Shows the content of requests or responses to people.
    public static let showsContent = Self("shows content")

    /// Conforms to ``Stage/Intercept``; not declared but derived.
    public static let intercepts = Self("intercepts")
    /// Conforms to ``Stage/Prepare``, ``Stage/Intercept`` or ``Stage/Process``; not declared but derived.
    public static let actsOnCalls = Self("acts on calls")
    /// Hands over decoded content.
    ///
    /// Derived from ``Transport/decodesContent``; the transport is inside all plugins.
    public static let decodesContent = Self("decodes content")
}

/// A plugin that declares what it does, so that ``Provider/explain()`` can check its position.
///
/// ```swift
/// extension RequestSigner: CapabilityDeclaring {
///     var capabilities: Set<PluginCapability> { [.signs, .identifiesCalls] }
/// }
/// ```
public protocol CapabilityDeclaring: PluginType {
    /// What the plugin does.
    var capabilities: Set<PluginCapability> { get }

    /// Rules for capabilities that the library does not know; by default none.
    var orderRules: [OrderRule] { get }
}

extension CapabilityDeclaring {
    /// No rules.
    public var orderRules: [OrderRule] { [] }
}
