import Foundation
package import HTTPTypes
package import Pipeline

/// Hides what is secret in a recording, and in the same way in a request before it is compared with one.
///
/// A recording is for replay: unlike in a log, what no rule names is kept. Done twice, it changes nothing more.
package struct RecordingRedaction: Sendable {
    /// What stands for a hidden text; ASCII, so that it is the same in a URL, a form, JSON and a header field.
    package static let placeholder = "REDACTED"

    /// Of a query value that is looked for elsewhere: what is shorter could be any word.
    private static let minimumByteCount = 16

    private let names: SecretNameCache
    let revealsSecrets: Bool
    private var redactor: Redactor

    /// - Parameter redactor: its secret names and declared values hold; its lists of what people may see do not.
    package init(_ redactor: Redactor) {
        self.redactor = redactor
        names = SecretNameCache(redactor.secretNames)
        revealsSecrets = redactor.revealsSecrets
    }

    /// The same, with more values hidden wherever they stand.
    package func adding(secretValues values: Set<String>) -> RecordingRedaction {
        guard !revealsSecrets, !values.isEmpty else { return self }
        var copy = self
        copy.redactor = redactor.adding(secretValues: values)
        return copy
    }

    /// What the secret fields and query items of a request and the cookies of its answer hold: secret wherever it stands.
    package func values(of request: PipelineRequest, answer: HTTPFields = [:]) -> Set<String> {
        if revealsSecrets { return [] }
        var request = request
        for field in request.headers where isSecret(field.name) { request.secretFields.insert(field.name) }
        var values = MessageSecrets.values(of: request).union(MessageSecrets.values(ofCookiesIn: answer))
        for item in URLParts.items((request.query ?? "").utf8[...]) where names.contains(item.name) {
            let value = String(decoding: URLParts.decoded(item.value.utf8, plus: 0x20), as: UTF8.self)
            if value.utf8.count >= Self.minimumByteCount { values.insert(value) }
        }
        return values.filter { $0 != Self.placeholder && !HARVocabulary.contains($0) }
    }

    /// Whether bytes hold a declared value in any of its forms.
    package func containsSecret(in bytes: some Collection<UInt8>) -> Bool { redactor.containsSecret(in: bytes) }

    package func isSecret(name: String) -> Bool { !revealsSecrets && names.contains(name) }

    package func isSecret(_ name: HTTPField.Name) -> Bool {
        if revealsSecrets { return false }
        if Redactor.alwaysSecretFields.contains(name) { return true }
        return !name.canonicalName.hasPrefix("access-control-") && names.contains(name.canonicalName)
    }

    // MARK: Texts

    /// Any text, with the declared values hidden.
    package func values(in text: String) -> String {
        guard let values = redactor.secretValues else { return text }
        return String(decoding: values.replacing(in: Data(text.utf8), with: Self.placeholder), as: UTF8.self)
    }

    func values(in bytes: Data) -> Data {
        redactor.secretValues?.replacing(in: bytes, with: Self.placeholder) ?? bytes
    }

    /// Any text: what it holds of JSON and of URLs follows their rules.
    package func text(_ text: String) -> String {
        guard !revealsSecrets else { return values(in: text) }
        let hidden = SecretText.hidden(in: Array(text.utf8), isSecret: names.contains)
        return values(in: hidden.map { String(decoding: $0, as: UTF8.self) } ?? text)
    }

    /// A URL or a reference to one: user name, password, and the values of secret names in query and fragment.
    package func url(_ url: String) -> String {
        guard !revealsSecrets else { return values(in: url) }
        let mark = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex
        var result = text(String(url[..<mark]))
        var rest = url[mark...]
        while let first = rest.utf8.first {
            let start = rest.utf8.index(after: rest.startIndex)
            let end = rest.utf8[start...].firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
            result += String(decoding: CollectionOfOne(first), as: UTF8.self) + items(rest[start..<end])
            rest = rest[end...]
        }
        return values(in: result)
    }

    /// `name=value` pairs with `&` between them.
    func items(_ items: Substring) -> String {
        Redactor.mapItems(of: items) { item, name in
            guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return String(item) }
            let start = item.utf8.index(after: equals)
            if names.contains(name), start != item.endIndex { return item[..<start] + Self.placeholder }
            return item[..<start] + self.encodedValue(item[start...])
        }
    }

    /// A value that is JSON or a URL in percent-encoding.
    private func encodedValue(_ value: Substring) -> String {
        guard value.utf8.contains(UInt8(ascii: "%")) else { return text(String(value)) }
        let spaced = String(decoding: value.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }, as: UTF8.self)
        guard let decoded = spaced.removingPercentEncoding else { return String(value) }
        let shown = text(decoded)
        return shown == decoded ? String(value) : URLParts.encoded(shown.utf8[...])
    }

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
            let pair = value.prefix { $0 != ";" }
            return hiddenPair(pair) + values(in: String(value[pair.endIndex...]))
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
