public import HTTPTypes

extension Redactor {
    /// Returns whether a header field with this name is likely to contain a secret, by ``standardSecretNames``.
    ///
    /// Fields that a target sets are marked as secret by this rule. A plugin that sets fields with arbitrary names can
    /// apply it, too.
    ///
    /// - Parameter name: the name of the field.
    /// - Returns: `true` for Authorization, Cookie, Set-Cookie, Proxy-Authorization and DPoP, and for a name that
    ///   contains a secret word and is not in ``standardHeaderFields``.
    public static func soundsSecret(_ name: HTTPField.Name) -> Bool {
        !standardHeaderFields.contains(name) && standard.isSecret(name)
    }

    /// Returns whether a field with this name is secret, whatever the list of shown fields.
    package func isSecret(_ name: HTTPField.Name) -> Bool {
        if revealsSecrets { return false }
        if Self.alwaysSecretFields.contains(name) { return true }
        let name = name.canonicalName
        return !name.hasPrefix("access-control-") && names.places(of: name).contains(.field)
    }

    /// Returns whether a name is secret in a place.
    package func isSecret(name: String, in place: SecretPlaces) -> Bool {
        !revealsSecrets && (names.contains(name, in: place) || place == .query && markedQueryNames.contains(name))
    }

    // MARK: Texts

    /// Returns any text with the values of secret names hidden, as far as ``SecretText`` finds them.
    func hidingNames(in text: String, with placeholder: SecretPlaceholder = .shown) -> String {
        if revealsSecrets { return text }
        let hidden = SecretText.hidden(in: Array(text.utf8), names, placeholder)
        return hidden.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Returns whether the value of `name=value` contains JSON, a URL or another text with a secret in it.
    func holdsSecretName(inValueOf item: Substring) -> Bool {
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let value = PercentEscapes.decoded(item.utf8[equals...].dropFirst(), plus: 0x20)
        return SecretText.hidden(in: value, names, .shown) != nil
    }
}
