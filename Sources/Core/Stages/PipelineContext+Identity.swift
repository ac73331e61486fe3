public import HTTPTypes

extension PipelineContext {
    /// The identities on whose behalf the call is made, in the order in which plugins added them.
    ///
    /// Calls with different identities do not share a response.
    public var identities: [String] { self[CallIdentities.self].texts }

    /// Adds an identity on whose behalf the call is made.
    ///
    /// A plugin that sets a credential in ``Stage/Exchange`` calls this in ``Stage/Prepare``, because no plugin outside
    /// can compare that credential. It must be outside the plugins that share or cache responses, and declare
    /// ``PluginCapability/identifiesCalls``.
    ///
    /// - Parameters:
    ///   - identity: a string that differs for each account, such as a user name combined with the name of the plugin.
    ///     It stays in memory and is never shown.
    ///   - fields: the header fields in which the plugin sets a credential of that account. A cache stores no response
    ///     to a credential that a plugin inside it sets in another field.
    public func addIdentity(_ identity: String, of fields: HTTPField.Name...) {
        addIdentity(identity) { $0.fields.formUnion(fields) }
    }

    /// Adds an identity for one value of a field, when the plugin sets it.
    ///
    /// Another value of the field, which another plugin may set, then has no identity.
    ///
    /// - Parameters:
    ///   - identity: as for ``addIdentity(_:of:)``; it must have been added in ``Stage/Prepare`` already.
    ///   - value: the value that the plugin sets, which is the only one.
    ///   - field: the name of the field.
    public func addIdentity(_ identity: String, ofValue value: String, in field: HTTPField.Name) {
        addIdentity(identity) { _ = $0.values[field, default: []].insert(value) }
    }

    /// Adds the account that a plugin has obtained for the call, as an identity of the call.
    ///
    /// A plugin that asks its user for the account of a call does so once per call:
    ///
    /// ```swift
    /// if context.account(of: self) == nil {
    ///     context.setAccount(try await account(context.target), of: self, in: .authorization)
    /// }
    /// ```
    ///
    /// Of passes that run at the same time, all use the account that was known first.
    ///
    /// - Parameters:
    ///   - account: the account. The identity is the name of the plugin, a space, and the account.
    ///   - plugin: the plugin.
    ///   - fields: as for ``addIdentity(_:of:)``.
    public func setAccount(_ account: String, of plugin: some PluginType & AnyObject, in fields: HTTPField.Name...) {
        let first = update(CallAccounts.self) { accounts in
            let first = accounts[ObjectIdentifier(plugin)] ?? account
            accounts[ObjectIdentifier(plugin)] = first
            return first
        }
        addIdentity("\(plugin.name) \(first)") { $0.fields.formUnion(fields) }
    }

    private func addIdentity(_ identity: String, _ extend: (inout CallIdentities) -> Void) {
        update(CallIdentities.self) { identities in
            if !identities.texts.contains(identity) { identities.texts.append(identity) }
            extend(&identities)
        }
    }

    /// The account that was set for a plugin with ``setAccount(_:of:in:)``; `nil` if there is none.
    public func account(of plugin: some PluginType & AnyObject) -> String? {
        self[CallAccounts.self][ObjectIdentifier(plugin)]
    }

    /// Whether the values of a field of a request belong to an identity.
    func hasIdentity(of field: HTTPField.Name, in request: PipelineRequest) -> Bool {
        let identities = self[CallIdentities.self]
        if identities.fields.contains(field) { return true }
        guard let known = identities.values[field] else { return false }
        return request.headers[values: field].allSatisfy(known.contains)
    }
}

/// The identities of a call: three words, which the context stores without an allocation.
private struct CallIdentities: PipelineContext.Key {
    static let defaultValue = Self()
    static let isInherited = true

    var texts: [String] = []
    var fields: Set<HTTPField.Name> = []
    var values: [HTTPField.Name: Set<String>] = [:]
}

/// The accounts of a call, by the plugin that obtained them.
private enum CallAccounts: PipelineContext.Key {
    static let defaultValue: [ObjectIdentifier: String] = [:]
    static let isInherited = true
}
