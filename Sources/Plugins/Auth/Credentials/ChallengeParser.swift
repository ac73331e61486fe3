/// A parser for the value of one field: `#challenge` of RFC 9110 §11.6.1, or `#auth-param` of RFC 7615 §3.
enum ChallengeParser {
    static let maximumChallengeCount = 16
    static let maximumParameterCount = 32

    private typealias Bytes = Substring.UTF8View
    private typealias Parameter = (name: String, value: String)

    /// The content between two commas.
    private enum Element {
        /// The beginning of a challenge; `nil` if it is malformed.
        case scheme(AuthenticationChallenge?)
        case parameter(Parameter)
        case broken
    }

    /// Returns the challenges of a field without the malformed ones.
    static func challenges(of value: String, atMost limit: Int) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        var current: AuthenticationChallenge?
        for element in elements(of: value) where challenges.count < limit {
            switch element {
            case .scheme(let challenge):
                if let current { challenges.append(current) }
                current = challenge
            case .parameter(let parameter):
                if current?.token != nil || current?.parameters.insert(parameter) == false { current = nil }
            case .broken:
                current = nil
            }
        }
        if let current, challenges.count < limit { challenges.append(current) }
        return challenges
    }

    /// Returns the parameters of a field that has nothing else; `nil` if it is malformed.
    static func parameters(of value: String) -> [String: String]? {
        var parameters: [String: String] = [:]
        for element in elements(of: value) {
            guard case .parameter(let parameter) = element, parameters.insert(parameter) else { return nil }
        }
        return parameters
    }

    /// Reads what is between the commas outside quotation marks.
    private static func elements(of value: String) -> [Element] {
        var parts: [Bytes] = []
        var rest = value[...].utf8
        while !rest.isEmpty {
            var (isQuoted, isEscaped) = (false, false)
            let part = rest.prefix { byte in
                if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
                isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
                return isQuoted || byte != UInt8(ascii: ",")
            }
            parts.append(trimmed(part))
            rest = rest[part.endIndex...].dropFirst()
        }
        return parts.filter { !$0.isEmpty }.map(element)
    }

    private static func element(_ text: Bytes) -> Element {
        var rest = text
        guard let name = takeToken(&rest) else { return .broken }
        let hasBlank = rest.first.map(isBlank) ?? false
        rest = trimmed(rest)
        if rest.isEmpty { return .scheme(AuthenticationChallenge(scheme: name)) }
        if let value = value(rest) { return .parameter((name.lowercased(), value)) }
        guard hasBlank, rest.first != UInt8(ascii: "=") else { return .broken }
        if isToken68(rest) {
            return .scheme(AuthenticationChallenge(scheme: name, token: String(decoding: rest, as: UTF8.self)))
        }
        guard let parameter = takeToken(&rest), let value = value(trimmed(rest)) else { return .scheme(nil) }
        return .scheme(AuthenticationChallenge(scheme: name, parameters: [parameter: value]))
    }

    /// Returns the value of a parameter, from the equals sign on: a token or a quoted string.
    private static func value(_ text: Bytes) -> String? {
        guard text.first == UInt8(ascii: "=") else { return nil }
        var rest = trimmed(text.dropFirst())
        let value = rest.first == UInt8(ascii: "\"") ? takeQuotedString(&rest) : takeToken(&rest)
        return rest.isEmpty ? value : nil
    }

    private static func takeToken(_ text: inout Bytes) -> String? {
        let token = text.prefix { isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
        text = text[token.endIndex...]
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    private static func takeQuotedString(_ text: inout Bytes) -> String? {
        var content: [UInt8] = []
        text = text.dropFirst()
        while let byte = text.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            guard let byte = byte == UInt8(ascii: "\\") ? text.popFirst() : byte, isText(byte) else { return nil }
            content.append(byte)
        }
        return nil
    }

    private static func isToken68(_ text: Bytes) -> Bool {
        let padding = text.drop { isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        return padding.count < text.count && padding.allSatisfy { $0 == UInt8(ascii: "=") }
    }

    private static func trimmed(_ text: Bytes) -> Bytes {
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }
}

extension [String: String] {
    /// Inserts a parameter, and returns whether there was room and its name was new (RFC 9110 §11.2).
    fileprivate mutating func insert(_ parameter: (name: String, value: String)) -> Bool {
        guard count < ChallengeParser.maximumParameterCount else { return false }
        return updateValue(parameter.value, forKey: parameter.name) == nil
    }
}
