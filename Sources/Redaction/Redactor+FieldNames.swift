package import HTTPTypes

extension Redactor {
    /// Whether a field of this name is likely to carry a secret.
    package static func soundsSecret(_ name: HTTPField.Name) -> Bool {
        !standardHeaderFields.contains(name) && isSecret(name, by: SecretWords.standard.places)
    }

    /// Whether a field of this name is secret with a list of words.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - places: returns the places in which a name is secret.
    /// - Returns: whether its value is hidden.
    package static func isSecret(_ name: HTTPField.Name, by places: (String) -> SecretPlaces) -> Bool {
        if alwaysSecretFields.contains(name) { return true }
        return !name.canonicalName.hasPrefix("access-control-") && places(name.canonicalName).contains(.field)
    }
}
