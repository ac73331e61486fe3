import Foundation
package import HTTPTypes

/// What the secret fields of a message hold.
package enum MessageSecrets {
    private static let minimumByteCount = 8

    package static func values(of request: PipelineRequest) -> Set<String> {
        var values: Set<String> = []
        for field in request.headers where request.isSecret(field.name) {
            if field.name == .cookie {
                for pair in field.value.split(separator: ";") { insert(valueOfPair: pair, into: &values) }
            } else {
                insert(credentials: field.value, into: &values)
            }
        }
        return values
    }

    package static func values(ofCookiesIn fields: HTTPFields) -> Set<String> {
        var values: Set<String> = []
        for field in fields where field.name == .setCookie {
            insert(valueOfPair: field.value.prefix { $0 != ";" }, into: &values)
        }
        return values
    }

    /// The value of `name=value`, as it is and without quotes and percent-encoding.
    private static func insert(valueOfPair pair: Substring, into values: inout Set<String>) {
        guard let equals = pair.firstIndex(of: "=") else { return }
        let value = pair[pair.index(after: equals)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
        insert(value, into: &values)
        if let decoded = value.removingPercentEncoding { insert(decoded, into: &values) }
    }

    /// `scheme credentials` or a value alone (RFC 9110 §11.4).
    private static func insert(credentials value: String, into values: inout Set<String>) {
        guard let blank = value.firstIndex(of: " ") else { return insert(value, into: &values) }
        let credentials = value[value.index(after: blank)...].trimmingCharacters(in: .whitespaces)
        insert(credentials, into: &values)
        guard value[..<blank].lowercased() == "basic", let data = Data(base64Encoded: credentials) else { return }
        // RFC 7617 §2: what stands behind the first colon is the password.
        let pair = String(decoding: data, as: UTF8.self)
        if let colon = pair.firstIndex(of: ":") { insert(String(pair[pair.index(after: colon)...]), into: &values) }
    }

    private static func insert(_ value: String, into values: inout Set<String>) {
        if value.utf8.count >= minimumByteCount { values.insert(value) }
    }
}
