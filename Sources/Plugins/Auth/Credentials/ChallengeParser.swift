/// A parser for the value of one field: `#challenge` of RFC 9110 §11.6.1, or `#auth-param` of RFC 7615 §3.
struct ChallengeParser {
    static let maximumChallengeCount = 16
    static let maximumParameterCount = 32

    private typealias Parameter = (name: String, value: String)

    /// The content between two commas.
    private enum Element {
        case scheme(String, token: String?, Parameter?)
        case parameter(Parameter)
        case broken
    }

    private let bytes: [UInt8]
    private var index = 0

    private init(_ value: String) {
        bytes = Array(value.utf8)
    }

    /// Returns the challenges of a field without the malformed ones.
    static func challenges(of value: String, atMost limit: Int) -> [AuthenticationChallenge] {
        var parser = ChallengeParser(value)
        var challenges: [AuthenticationChallenge] = []
        var current: AuthenticationChallenge?
        while challenges.count < limit, let element = parser.nextElement() {
            switch element {
            case .scheme(let scheme, let token, let parameter):
                if let current { challenges.append(current) }
                current = AuthenticationChallenge(scheme: scheme, token: token)
                if let parameter { current?.parameters[parameter.name] = parameter.value }
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
        var parser = ChallengeParser(value)
        var parameters: [String: String] = [:]
        while let element = parser.nextElement() {
            guard case .parameter(let parameter) = element, parameters.insert(parameter) else { return nil }
        }
        return parameters
    }

    private mutating func nextElement() -> Element? {
        while let byte = current, byte == UInt8(ascii: ",") || Self.isBlank(byte) { index += 1 }
        guard current != nil else { return nil }
        if let element = readElement(), isAtEndOfElement { return element }
        skipElement()
        return .broken
    }

    private mutating func readElement() -> Element? {
        guard let name = readToken() else { return nil }
        let end = index
        skipBlanks()
        if current == UInt8(ascii: "=") { return readValue().map { .parameter((name.lowercased(), $0)) } }
        if isAtEndOfElement { return .scheme(name, token: nil, nil) }
        guard index > end else { return nil }
        let start = index
        if let token = readToken68() { return .scheme(name, token: token, nil) }
        index = start
        guard let parameter = readToken()?.lowercased() else { return nil }
        skipBlanks()
        guard current == UInt8(ascii: "=") else { return nil }
        return readValue().map { .scheme(name, token: nil, (parameter, $0)) }
    }

    /// Reads from the equals sign to the end of the value.
    private mutating func readValue() -> String? {
        index += 1
        skipBlanks()
        let value = current == UInt8(ascii: "\"") ? readQuotedString() : readToken()
        skipBlanks()
        return value
    }

    private mutating func readToken() -> String? {
        read { Self.isTokenByte($0) }
    }

    /// Reads a token68 only if it ends at a comma or at the end, because a parameter may begin the same way.
    private mutating func readToken68() -> String? {
        guard var token = read({ Self.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }) else { return nil }
        token += read { $0 == UInt8(ascii: "=") } ?? ""
        skipBlanks()
        return isAtEndOfElement ? token : nil
    }

    private mutating func readQuotedString() -> String? {
        var content: [UInt8] = []
        index += 1
        while let byte = current, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { index += 1 }
            guard let byte = current, Self.isText(byte) else { return nil }
            content.append(byte)
            index += 1
        }
        guard current != nil else { return nil }
        index += 1
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func read(_ isPart: (UInt8) -> Bool) -> String? {
        let start = index
        while let byte = current, isPart(byte) { index += 1 }
        return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }

    /// Skips to the next comma outside quotes.
    private mutating func skipElement() {
        while let byte = current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = readQuotedString() } else { index += 1 }
        }
    }

    private mutating func skipBlanks() {
        while let byte = current, Self.isBlank(byte) { index += 1 }
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private var isAtEndOfElement: Bool { current == nil || current == UInt8(ascii: ",") }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

extension [String: String] {
    /// Inserts a parameter, and returns whether there was room and its name was new (RFC 9110 §11.2).
    fileprivate mutating func insert(_ parameter: (name: String, value: String)) -> Bool {
        guard count < ChallengeParser.maximumParameterCount else { return false }
        return updateValue(parameter.value, forKey: parameter.name) == nil
    }
}
