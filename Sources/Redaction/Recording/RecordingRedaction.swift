import Foundation
package import HTTPTypes

/// Hides what is secret in a recording, and in the same way in a request before it is compared with one.
///
/// A recording is for replay: unlike in a log, what no rule names is kept. Done twice, it changes nothing more.
package struct RecordingRedaction: Sendable {
    /// What is written in place of a hidden text.
    package static let placeholder = SecretPlaceholder.recorded.text

    /// Shows no field and no query item because it is on a list.
    package private(set) var redactor: Redactor

    package var revealsSecrets: Bool { redactor.revealsSecrets }

    /// - Parameter redactor: its secret names and declared values hold; its lists of what people may see do not.
    package init(_ redactor: Redactor) {
        self.redactor = redactor
        self.redactor.shownHeaderFields = []
        self.redactor.shownQueryNames = []
    }

    /// The same redaction with more secret values, which are replaced wherever they stand.
    package func adding(secretValues values: Set<String>) -> RecordingRedaction {
        guard !revealsSecrets, !values.isEmpty else { return self }
        var copy = self
        copy.redactor = redactor.adding(secretValues: values)
        return copy
    }

    /// Whether bytes hold a declared value in any of its forms.
    package func containsSecret(in bytes: some Collection<UInt8>) -> Bool { redactor.containsSecret(in: bytes) }

    /// Whether a name is secret in a place.
    package func isSecret(name: String, in place: SecretPlaces) -> Bool {
        redactor.isSecret(name: name, in: place)
    }

    package func isSecret(_ name: HTTPField.Name) -> Bool { redactor.isSecret(name) }

    // MARK: Texts

    /// Any text, with the declared values hidden.
    package func values(in text: String) -> String {
        redactor.secretValues?.hiding(in: text, with: .recorded) ?? text
    }

    func values(in bytes: Data) -> Data {
        redactor.secretValues?.hiding(in: bytes, with: .recorded) ?? bytes
    }

    /// Any text: what it holds of JSON and of URLs follows their rules.
    package func text(_ text: String) -> String { values(in: hidingNames(in: text)) }

    func hidingNames(in text: String) -> String { redactor.hidingNames(in: text, with: .recorded) }

    // MARK: Header fields

    /// The value of a header field; of a secret one the scheme of its credentials and the names of its cookies stay.
    package func value(of name: HTTPField.Name, _ value: String, isSecret: Bool = false) -> String {
        if Redactor.urlFields.contains(name), !isSecret { return url(value) }
        guard isSecret || self.isSecret(name), !value.isEmpty, !revealsSecrets else { return text(value) }
        switch name {
        case .cookie:
            return value.split(separator: ";", omittingEmptySubsequences: false)
                .map(hiddenPair).joined(separator: ";")
        case .setCookie:
            // Some writers join several cookies.
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

    /// Names that say how the credentials behind them are meant, and are none themselves.
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
