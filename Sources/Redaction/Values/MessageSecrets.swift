import Foundation
package import HTTPTypes

/// The secret values that the fields of a message hold.
package struct MessageSecrets {
    /// The least length that the redaction for people looks for: shorter values could be any word.
    package static let standardByteCount = 8

    private let minimumByteCount: Int
    private var values: Set<String> = []

    private init(_ minimumByteCount: Int) { self.minimumByteCount = minimumByteCount }

    package static func values(
        of fields: HTTPFields,
        minimumByteCount: Int = standardByteCount,
        where isSecret: (HTTPField.Name) -> Bool
    ) -> Set<String> {
        var secrets = MessageSecrets(minimumByteCount)
        for field in fields where isSecret(field.name) {
            if field.name == .cookie {
                for pair in field.value.split(separator: ";") { secrets.insert(valueOfPair: pair) }
            } else {
                secrets.insert(credentials: field.value)
            }
        }
        return secrets.values
    }

    package static func values(
        ofCookiesIn fields: HTTPFields,
        minimumByteCount: Int = standardByteCount
    ) -> Set<String> {
        var secrets = MessageSecrets(minimumByteCount)
        for field in fields where field.name == .setCookie {
            secrets.insert(valueOfPair: field.value.prefix { $0 != ";" })
        }
        return secrets.values
    }

    /// Inserts the value of `name=value`, as it is and without quotes and percent-encoding.
    private mutating func insert(valueOfPair pair: Substring) {
        guard let equals = pair.firstIndex(of: "=") else { return }
        let value = pair[pair.index(after: equals)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
        insert(value)
        if let decoded = value.removingPercentEncoding { insert(decoded) }
    }

    /// Inserts the credentials of `scheme credentials`, or a value alone (RFC 9110 §11.4).
    private mutating func insert(credentials value: String) {
        guard let blank = value.firstIndex(of: " ") else { return insert(value) }
        let credentials = value[value.index(after: blank)...].trimmingCharacters(in: .whitespaces)
        insert(credentials)
        guard value[..<blank].lowercased() == "basic", let data = Data(base64Encoded: credentials) else { return }
        // RFC 7617 §2: the password follows the first colon.
        let pair = String(decoding: data, as: UTF8.self)
        if let colon = pair.firstIndex(of: ":") { insert(String(pair[pair.index(after: colon)...])) }
    }

    private mutating func insert(_ value: String) {
        if value.utf8.count >= minimumByteCount { values.insert(value) }
    }
}
