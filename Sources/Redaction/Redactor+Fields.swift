public import HTTPTypes

extension Redactor {
    /// Returns header fields for people: every name, in order and with repeats; values that must not be shown as `…`.
    ///
    /// The value of a field in ``shownHeaderFields`` is shown without the values of secret names in its text, such as
    /// `?token=…` in a link.
    ///
    /// - Parameters:
    ///   - fields: the fields.
    ///   - isSecret: returns whether a field is secret even if it is on the list, usually
    ///     ``PipelineRequest/isSecret(_:)`` of the request.
    /// - Returns: names and values.
    public func fields(
        _ fields: HTTPFields,
        isSecret: (HTTPField.Name) -> Bool = { _ in false }
    ) -> [(name: String, value: String)] {
        fields.map { field in
            (text(field.name.rawName), value(of: field, isSecret: isSecret(field.name)))
        }
    }

    private func value(of field: HTTPField, isSecret: Bool) -> String {
        if !revealsSecrets, isSecret || Self.alwaysSecretFields.contains(field.name) { return Self.placeholder }
        if Self.urlFields.contains(field.name) { return url(field.value) }
        let isShown = revealsSecrets || shownHeaderFields.contains(field.name)
        return isShown ? text(hidingNames(in: field.value)).escapingControls : Self.placeholder
    }
}

extension String {
    /// The string with control characters, line separators and bidirectional controls as `\u{…}`, but tabs unchanged.
    var escapingControls: String { escapingControls(keeping: "\t") }

    /// Returns the string as ``escapingControls`` does, but keeps the given characters.
    package func escapingControls(keeping kept: String) -> String {
        guard utf8.contains(where: { $0 < 0x20 || $0 > 0x7e }),
            unicodeScalars.contains(where: { Self.isControl($0) && !kept.unicodeScalars.contains($0) })
        else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if Self.isControl(scalar), !kept.unicodeScalars.contains(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
