/// A capability of a plugin that affects where it belongs in a stack.
///
/// ``Provider/explain()`` derives its findings from the capabilities of all plugins, including third-party ones, and
/// from ``OrderRule/standard``. Two capabilities are equal if their names are equal.
public struct PluginCapability: Sendable, Hashable {
    /// The name of the capability, a verb phrase such as `retries`.
    public let name: String

    /// Makes a capability that the library does not know, for an ``OrderRule`` of your own.
    ///
    /// - Parameter name: a verb phrase that no other capability uses.
    public init(_ name: String) {
        self.name = name
    }
}

extension PluginCapability {
    /// The plugin retries failed requests.
    public static let retries = Self("retries")
    /// The plugin gives several calls the same response.
    public static let sharesResponses = Self("shares responses")
    /// The plugin responds with what an earlier exchange returned.
    public static let caches = Self("caches")
    /// The plugin sets a credential of the user or of the client.
    public static let setsCredential = Self("sets a credential")
    /// The plugin calls ``PipelineContext/addIdentity(_:of:)`` for its credential, so that no two accounts share a
    /// response.
    ///
    /// This exempts an exchange plugin from the rule `sharing-outside-credential`.
    public static let identifiesCalls = Self("identifies calls")
    /// The plugin sets a credential on the hop and does not know whose it is.
    ///
    /// Plugins outside it neither share nor store the responses to its requests.
    public static let setsUnknownCredential = Self("sets a credential of an unknown account")
    /// The plugin sends its credential only to hosts that it was given.
    public static let limitsHosts = Self("limits its credential to named hosts")
    /// The plugin sets an access token for targets that ask for one with ``AccessTokenAuthorizable``.
    ///
    /// It declares ``setsCredential``, too.
    public static let setsAccessToken = Self("sets an access token")
    /// The plugin sets header fields whose values may differ from user to user.
    public static let setsFields = Self("sets fields")
    /// The plugin computes a signature over the request.
    ///
    /// A signature is a credential, too: two users must not share a response.
    public static let signs = Self("signs")
    /// The plugin retries a request with another credential if the response is a 401.
    public static let answersChallenges = Self("answers challenges")
    /// The plugin reports a 401 to the application.
    public static let reportsUnauthorized = Self("reports 401")
    /// The plugin delays the results of calls.
    public static let delaysResults = Self("delays results")
    /// The plugin covers a call from its start to its end, like a total timeout or an activity indicator.
    public static let spansCalls = Self("spans calls")
    /// The plugin limits the duration of each exchange, by an attempt or a total timeout.
    public static let limitsExchanges = Self("limits the duration of exchanges")
    /// The plugin compresses or decompresses content.
    public static let codesContent = Self("codes content")
    /// The plugin shows the content of requests or responses to people.
    public static let showsContent = Self("shows content")

    /// The plugin conforms to ``Stage/Intercept``; derived, not declared.
    public static let intercepts = Self("intercepts")
    /// The plugin conforms to ``Stage/Prepare``, ``Stage/Intercept`` or ``Stage/Process``; derived, not declared.
    public static let actsOnCalls = Self("acts on calls")
    /// The transport leaves the lowest version of TLS to the machine.
    public static let leavesTLSVersion = Self("leaves the TLS version to the machine")
}

/// A plugin that declares its capabilities, so that ``Provider/explain()`` can check its position.
///
/// ```swift
/// extension RequestSigner: CapabilityDeclaring {
///     var capabilities: Set<PluginCapability> { [.signs, .identifiesCalls] }
/// }
/// ```
public protocol CapabilityDeclaring: PluginType {
    /// The capabilities of the plugin.
    var capabilities: Set<PluginCapability> { get }

    /// The rules for capabilities that the library does not know; none by default.
    var orderRules: [OrderRule] { get }

    /// Returns what is wrong with the settings of this plugin beside another plugin of the stack; `nil` by default.
    ///
    /// - Parameter other: another plugin of the stack, inside or outside this one.
    /// - Returns: the conflict, which only one of the two plugins should report.
    func conflict(with other: any PluginType) -> SettingConflict?
}

extension CapabilityDeclaring {
    /// The default: the plugin adds no rules.
    public var orderRules: [OrderRule] { [] }

    /// The default: the settings conflict with those of no plugin.
    public func conflict(with other: any PluginType) -> SettingConflict? { nil }
}
