import HTTPTypes
import Pipeline

/// The accounts of a call, by the plugin that obtained them.
enum CallAccounts: PipelineContextKey {
    static let defaultValue: [ObjectIdentifier: String] = [:]
    static let isInherited = true

    /// Obtains the account of the call for a plugin, once per call, and adds it to the identities of the call.
    ///
    /// Of passes that run at the same time, all use the account that was known first.
    ///
    /// - Parameters:
    ///   - plugin: the plugin.
    ///   - field: the field that the plugin sets to a credential of the account.
    ///   - context: the context of the call.
    ///   - account: returns the account.
    /// - Throws: the error of `account`.
    static func record(
        for plugin: some PluginType & AnyObject,
        of field: HTTPField.Name? = nil,
        in context: PipelineContext,
        _ account: (any TargetType) async throws -> String
    ) async throws {
        let key = ObjectIdentifier(plugin)
        guard context[Self.self][key] == nil else { return }
        let name = try await account(context.target)
        let first = context.update(Self.self) { accounts in
            if accounts[key] == nil { accounts[key] = name }
            return accounts[key] ?? name
        }
        let identity = identity(first, of: plugin)
        if let field { context.addIdentity(identity, of: field) } else { context.addIdentity(identity) }
    }

    /// Returns the identity of a call that a plugin has made for an account.
    static func identity(_ account: String, of plugin: some PluginType) -> String { "\(plugin.name) \(account)" }

    /// Returns the account that was recorded for a plugin; `nil` if there is none.
    static func name(for plugin: AnyObject, in context: PipelineContext) -> String? {
        context[Self.self][ObjectIdentifier(plugin)]
    }
}

extension PluginCapability {
    /// The plugin sets a credential on the hop and does not know whose it is.
    static let setsUnknownCredential = Self("sets a credential of an unknown account")
}

extension OrderRule {
    /// Sharing beside a credential of an unknown account.
    static let sharingOfUnknownAccount = OrderRule(
        "sharing-of-unknown-account",
        [.setsUnknownCredential],
        .inside,
        [.sharesResponses],
        consequence: "responses to requests with its credential are not shared",
        remedy: "give it the account of each call, or the same text for all calls if there is one account",
        severity: .hint
    )

    /// A private cache without accounts outside a signature of an unknown account.
    static let cacheOfUnknownAccount = OrderRule(
        "cache-of-unknown-account",
        [.caches],
        .outside,
        [.setsUnknownCredential],
        except: [.answersChallenges],
        consequence: "responses to requests with its credential are not stored",
        remedy: "give it the account of each call, or the same text for all calls if there is one account"
    )
}
