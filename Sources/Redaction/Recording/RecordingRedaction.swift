import Foundation
package import HTTPTypes

/// Hides the secrets in a recording, and in the same way in a request before it is compared with one.
///
/// A recording is for replay: unlike a log, it keeps whatever no rule names. A second redaction changes nothing.
package struct RecordingRedaction: Sendable {
    /// The text that replaces a hidden text.
    package static let placeholder = SecretPlaceholder.recorded.text

    /// The redactor without its lists of shown fields and query items.
    package private(set) var redactor: Redactor

    package var revealsSecrets: Bool { redactor.revealsSecrets }

    /// - Parameter redactor: the redactor whose secret names and declared values apply; its lists of what people may
    ///   see do not.
    package init(_ redactor: Redactor) {
        self.redactor = redactor
        self.redactor.shownHeaderFields = []
        self.redactor.shownQueryNames = []
    }

    /// Returns the same redaction with more secret values, which are replaced wherever they occur.
    package func adding(secretValues values: Set<String>) -> RecordingRedaction {
        guard !revealsSecrets, !values.isEmpty else { return self }
        var copy = self
        copy.redactor = redactor.adding(secretValues: values)
        return copy
    }

    /// Returns the same redaction with more query items hidden.
    package func adding(secretQueryNames names: Set<String>) -> RecordingRedaction {
        var copy = self
        copy.redactor = redactor.adding(secretQueryNames: names)
        return copy
    }

    /// Returns whether bytes contain a declared value in any of its forms.
    package func containsSecret(in bytes: some Collection<UInt8>) -> Bool { redactor.containsSecret(in: bytes) }

    /// Returns whether a name is secret in a place.
    package func isSecret(name: String, in place: SecretPlaces) -> Bool {
        redactor.isSecret(name: name, in: place)
    }

    package func isSecret(_ name: HTTPField.Name) -> Bool { redactor.isSecret(name) }

    // MARK: Texts

    /// Returns any text with the declared values hidden.
    package func values(in text: String) -> String {
        redactor.secretValues?.hiding(in: text, with: .recorded) ?? text
    }

    func values(in bytes: Data) -> Data {
        redactor.secretValues?.hiding(in: bytes, with: .recorded) ?? bytes
    }

    /// Returns any text redacted; JSON and URLs in it follow their own rules.
    package func text(_ text: String) -> String { values(in: hidingNames(in: text)) }

    func hidingNames(in text: String) -> String { redactor.hidingNames(in: text, with: .recorded) }

    // MARK: Header fields

    /// Returns the value of a header field; if it is secret, only the scheme of its credentials or the names of its
    /// cookies remain.
    package func value(of name: HTTPField.Name, _ value: String, isSecret: Bool = false) -> String {
        if Redactor.urlFields.contains(name), !isSecret { return url(value) }
        guard isSecret || self.isSecret(name), !value.isEmpty, !revealsSecrets else { return text(value) }
        switch name {
        case .cookie:
            return value.split(separator: ";", omittingEmptySubsequences: false)
                .map(hiddenPair).joined(separator: ";")
        case .setCookie:
            // Some software joins several cookies in one field.
            return SetCookieSplitting.values(of: value, needsBlank: false).map { cookie in
                let pair = cookie.prefix { $0 != ";" }
                return hiddenPair(pair) + values(in: String(cookie[pair.endIndex...]))
            }.joined(separator: ", ")
        default:
            guard let blank = value.firstIndex(of: " "), Self.schemes.contains(value[..<blank].lowercased()) else {
                return Self.placeholder
            }
            return value[...blank] + Self.placeholder
        }
    }

    private func hiddenPair(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "=") else {
            let isBlank = pair.allSatisfy { $0 == " " || $0 == "\t" }
            return isBlank ? String(pair) : pair.prefix { $0 == " " } + Self.placeholder
        }
        return values(in: String(pair[...equals])) + Self.placeholder
    }

    /// The names of authentication schemes, which are not secret.
    private static let schemes: Set<String> = [
        "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "hoba", "mutual", "negotiate", "ntlm",
        "token",
    ]

    package func fields(_ fields: HTTPFields, secretFields: Set<HTTPField.Name> = []) -> HTTPFields {
        var result = HTTPFields()
        for field in fields {
            let value = value(of: field.name, field.value, isSecret: secretFields.contains(field.name))
            result.append(value == field.value ? field : HTTPField(name: field.name, value: value))
        }
        return result
    }
}
