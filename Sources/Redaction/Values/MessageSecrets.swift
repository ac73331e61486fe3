import Foundation
package import HTTPTypes

/// The secret values that messages hold in their own places: header fields, cookies and query items.
package struct MessageSecrets {
    /// The least length that the redaction for people looks for: shorter values could be any word.
    package static let standardByteCount = 8

    private let redactor: Redactor
    private let minimumByteCount: Int
    /// The values of header fields and cookies.
    package private(set) var fieldValues: Set<String> = []
    /// The values of query items, decoded.
    package private(set) var queryValues: Set<String> = []

    /// - Parameters:
    ///   - redactor: whose secret names count, but for those that it shows.
    ///   - minimumByteCount: the least length of a value.
    package init(_ redactor: Redactor, minimumByteCount: Int = standardByteCount) {
        self.redactor = redactor
        self.minimumByteCount = minimumByteCount
    }

    /// Inserts the values of the secret fields and query items of a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - isMarked: whether the request marks a field as secret, whatever its name.
    package mutating func insert(_ request: HTTPRequest, isMarked: (HTTPField.Name) -> Bool) {
        for field in request.headerFields where isMarked(field.name) || isSecret(field.name) {
            if field.name == .cookie {
                for pair in field.value.split(separator: ";") { insert(valueOfPair: pair) }
            } else {
                insert(credentials: field.value)
            }
        }
        let path = (request.path ?? "").utf8
        guard let mark = path.firstIndex(of: UInt8(ascii: "?")) else { return }
        let query = path[path.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
        for item in query.split(separator: UInt8(ascii: "&")) { insert(queryItem: Substring(item)) }
    }

    /// Inserts the values of the cookies that a response sets.
    package mutating func insert(cookiesOf response: HTTPFields) {
        for field in response where field.name == .setCookie {
            for cookie in SetCookieSplitting.values(of: field.value, needsBlank: false) {
                insert(valueOfPair: cookie.prefix { $0 != ";" })
            }
        }
    }

    private func isSecret(_ name: HTTPField.Name) -> Bool {
        redactor.isSecret(name) && !redactor.shownHeaderFields.contains(name)
    }

    private mutating func insert(queryItem item: Substring) {
        let name = Redactor.decodedName(of: item)
        guard redactor.isSecret(name: name, in: .query), !redactor.shownQueryNames.contains(name) else { return }
        let value = item.utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst()
        let decoded = String(decoding: PercentEscapes.decoded(value, plus: 0x20), as: UTF8.self)
        if decoded.utf8.count >= minimumByteCount { queryValues.insert(decoded) }
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
        if value.utf8.count >= minimumByteCount { fieldValues.insert(value) }
    }
}
