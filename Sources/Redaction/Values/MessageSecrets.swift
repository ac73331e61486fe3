package import Foundation
package import HTTPTypes

/// The secret values that messages contain in designated places: header fields, cookies and query items.
package struct MessageSecrets {
    /// The minimum length of values that are hidden from people; shorter values could be any word.
    package static let standardByteCount = 8
    private static let formByteCount = 16

    private let redactor: Redactor
    private let minimumByteCount: Int
    /// The beginnings of the values, if only these are needed.
    private(set) var beginnings: SecretBeginnings?
    /// The values with their places; those of query items and form fields are decoded.
    package private(set) var origins: [String: SecretOrigin] = [:]

    /// - Parameters:
    ///   - redactor: the redactor whose secret names apply, except those that it shows.
    ///   - minimumByteCount: the minimum length of a value.
    package init(_ redactor: Redactor, minimumByteCount: Int = standardByteCount) {
        self.redactor = redactor
        self.minimumByteCount = minimumByteCount
    }

    /// Collects only the beginnings of the values, without copying the values.
    init(beginningsFor redactor: Redactor) {
        self.init(redactor)
        beginnings = SecretBeginnings()
    }

    /// Inserts the values of the secret fields and query items of a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - queryNames: the names of query items that the request marks as secret.
    ///   - isMarked: returns whether the request marks a field as secret, whatever its name.
    package mutating func insert(
        _ request: HTTPRequest,
        queryNames: Set<String>,
        isMarked: (HTTPField.Name) -> Bool
    ) {
        for field in request.headerFields where isMarked(field.name) || isSecret(field.name) {
            let value = field.value
            if field.name == .cookie {
                value[...].forEachItem(separatedBy: UInt8(ascii: ";")) { insert(cookie: $0) }
            } else if !redactor.isPlain(name: field.name.rawName) {
                insert(credentials: value[...], of: SecretOrigin(kind: .field, name: field.name.rawName[...]))
            }
        }
        guard let path = request.path, let mark = path[...].firstIndex(ofByte: UInt8(ascii: "?")) else { return }
        let rest = path[path.utf8.index(after: mark)...]
        let query = rest[..<(rest.firstIndex(ofByte: UInt8(ascii: "#")) ?? rest.endIndex)]
        query.forEachItem(separatedBy: UInt8(ascii: "&")) { insert(item: $0, of: .query, marked: queryNames) }
    }

    /// Inserts the values of the secret fields of a URL-encoded form.
    ///
    /// Values of less than 16 bytes are left out, because a user may have chosen a word.
    package mutating func insert(formIn body: Data?, contentType: String?) {
        guard let body, body.count <= redactor.parsedBodyByteCount, let contentType else { return }
        let type = MediaType(contentType)
        guard type.isForm else { return }
        let decoded = type.encoding(of: body).flatMap { String(data: body, encoding: $0) }
        (decoded ?? String(decoding: body, as: UTF8.self))[...].forEachItem(separatedBy: UInt8(ascii: "&")) {
            insert(item: $0, of: .form)
        }
    }

    /// Inserts the values of the cookies that a response sets.
    package mutating func insert(cookiesOf response: HTTPFields) {
        for field in response where field.name == .setCookie {
            for cookie in SetCookieSplitting.values(of: field.value, needsBlank: false) {
                insert(cookie: cookie.prefix { $0 != ";" })
            }
        }
    }

    private func isSecret(_ name: HTTPField.Name) -> Bool {
        !redactor.shownHeaderFields.contains(name) && redactor.isSecret(name)
    }

    private mutating func insert(item: Substring, of place: SecretPlaces, marked: Set<String> = []) {
        let name = Redactor.decodedName(of: item)
        let isShown = place == .query && redactor.shownQueryNames.contains(name)
        guard redactor.isSecret(name: name, in: place) && !isShown || marked.contains(name),
            !redactor.isPlain(name: name)
        else { return }
        let value = Substring(item.utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst())
        let isEncoded = value.utf8.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        let decoded =
            isEncoded ? String(decoding: PercentEscapes.decoded(value.utf8, plus: 0x20), as: UTF8.self)[...] : value
        guard decoded.utf8.count >= (place == .form ? Self.formByteCount : minimumByteCount) else { return }
        add(decoded, SecretOrigin(kind: place == .form ? .form : .query, name: name[...]))
    }

    /// Inserts the value of `name=value`, both as it is and without quotes and percent-encoding.
    private mutating func insert(cookie pair: Substring) {
        guard let equals = pair.firstIndex(ofByte: UInt8(ascii: "=")) else { return }
        let name = pair[..<equals].trimming { $0 == " " || $0 == "\t" }
        guard !redactor.isPlain(name: name) else { return }
        let origin = SecretOrigin(kind: .cookie, name: name)
        let value = pair[pair.utf8.index(after: equals)...].trimming { $0 == " " || $0 == "\t" || $0 == "\"" }
        insert(value, of: origin)
        guard value.firstIndex(ofByte: UInt8(ascii: "%")) != nil else { return }
        if let decoded = value.removingPercentEncoding { insert(decoded[...], of: origin) }
    }

    /// Inserts the credentials of `scheme credentials`, or a value alone (RFC 9110 §11.4).
    private mutating func insert(credentials value: Substring, of origin: SecretOrigin) {
        guard let blank = value.firstIndex(ofByte: UInt8(ascii: " ")) else {
            insert(partsOf: value, except: value, of: origin)
            return insert(value, of: origin)
        }
        let credentials = value[value.utf8.index(after: blank)...].trimming {
            $0.isASCII ? $0 == " " || $0 == "\t" : $0.properties.generalCategory == .spaceSeparator
        }
        insert(partsOf: value, except: credentials, of: origin)
        insert(credentials, of: origin)
        guard value[..<blank].lowercased() == "basic", let data = Data(base64Encoded: String(credentials)) else {
            return
        }
        // RFC 7617 §2: the password follows the first colon.
        let pair = String(decoding: data, as: UTF8.self)
        if let colon = pair.firstIndex(of: ":") { insert(pair[pair.index(after: colon)...], of: origin) }
    }

    /// Inserts the parts of a value that could be signatures, because a server may return such a part alone.
    ///
    /// The other parts could be any text, such as a date or the name of a header field.
    private mutating func insert(partsOf value: Substring, except whole: Substring, of origin: SecretOrigin) {
        var rest = value.utf8
        while rest.count >= Self.signatureByteCount {
            let end = rest.firstIndex(where: Self.isSeparator) ?? rest.endIndex
            let part = Self.withoutName(rest[..<end])
            let isWhole = part.startIndex == whole.startIndex && part.endIndex == whole.endIndex
            if !isWhole, Self.isSignature(part) { insert(Substring(part), of: origin) }
            rest = rest[end...].dropFirst()
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { " ,;:\"".utf8.contains(byte) }

    /// Returns the text after `name=`, or the whole text if only padding follows.
    private static func withoutName(_ part: Substring.UTF8View) -> Substring.UTF8View {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return part }
        let value = part[equals...].dropFirst()
        return value.isEmpty || value.first == UInt8(ascii: "=") ? part : value
    }

    /// The length of a SHA-1 in base64 without padding.
    private static let signatureByteCount = 27

    /// Returns whether a text could be a signature in hexadecimal or base64.
    ///
    /// Without digits and padding, it could be a name.
    private static func isSignature(_ text: Substring.UTF8View) -> Bool {
        guard text.count >= signatureByteCount else { return false }
        return text.allSatisfy { $0.isAlphanumeric || "+/=".utf8.contains($0) }
            && text.contains { $0.isDigit || $0 == UInt8(ascii: "=") }
    }

    private mutating func insert(_ value: Substring, of origin: SecretOrigin) {
        if value.utf8.count >= minimumByteCount { add(value, origin) }
    }

    private mutating func add(_ value: Substring, _ origin: SecretOrigin) {
        guard !redactor.isPlain(value: value) else { return }
        guard beginnings == nil else {
            beginnings?.insert(value)
            return
        }
        let known = origins[String(value)]
        if known.map({ origin.kind.rawValue < $0.kind.rawValue }) != false { origins[String(value)] = origin }
    }
}

extension Substring {
    /// Returns the text without the characters at both ends that the closure accepts.
    fileprivate func trimming(where isTrimmed: (Unicode.Scalar) -> Bool) -> Substring {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isTrimmed($0) }),
            let last = scalars.lastIndex(where: { !isTrimmed($0) })
        else { return "" }
        return self[first..<scalars.index(after: last)]
    }
}
