import HTTPTypes

extension CacheControl {
    /// Adds the directives of one line.
    ///
    /// Quotation marks that are not closed are part of a token, so they hide no directive after them.
    mutating func parse(_ line: String) {
        var rest = Substring(line).utf8
        while !rest.isEmpty {
            let name = Self.take(&rest) { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            var argument = Argument.none
            if rest.popFirst() == UInt8(ascii: "=") {
                argument = Self.takeArgument(&rest)
                if name.utf8.last?.isOptionalWhitespace == true { argument = .invalid }
            }
            apply(name.trimmed.lowercased(), argument)
        }
    }

    /// Takes an argument and the comma after it.
    private static func takeArgument(_ rest: inout Substring.UTF8View) -> Argument {
        let quoted = takeQuotedString(&rest)
        let text = take(&rest) { $0 != UInt8(ascii: ",") }
        rest = rest.dropFirst()
        if let quoted { return text.trimmed.isEmpty ? .text(quoted) : .invalid }
        return text.utf8.first?.isOptionalWhitespace == false ? .text(String(text.trimmed)) : .invalid
    }

    /// Takes a quoted string and returns its content; returns `nil` if there is none, or if it is not closed.
    private static func takeQuotedString(_ rest: inout Substring.UTF8View) -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        var content: [UInt8] = []
        var unread = rest.dropFirst()
        while let byte = unread.popFirst() {
            if byte == UInt8(ascii: "\"") {
                rest = unread
                return String(decoding: content, as: UTF8.self)
            }
            content.append(byte == UInt8(ascii: "\\") ? unread.popFirst() ?? byte : byte)
        }
        return nil
    }

    private static func take(_ rest: inout Substring.UTF8View, while isTaken: (UInt8) -> Bool) -> Substring {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return Substring(taken)
    }

    /// The argument of a directive.
    enum Argument: Equatable {
        case none
        case text(String)
        /// An argument that does not match the grammar.
        case invalid
    }

    /// Adds a directive; ignores unknown ones.
    ///
    /// Directives that restrict have their effect with any argument, those that permit only without one.
    mutating func apply(_ name: String, _ argument: Argument) {
        switch name {
        case "max-age": Self.setLifetime(&maxAge, argument)
        case "s-maxage": Self.setLifetime(&sharedMaxAge, argument)
        case "no-store": noStore = true
        case "no-cache": Self.add(argument, to: &noCache)
        case "private": Self.add(argument, to: &isPrivate)
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "no-transform": noTransform = true
        case "only-if-cached": onlyIfCached = true
        case "public": isPublic = isPublic || argument == .none
        case "immutable": immutable = immutable || argument == .none
        case "must-understand": mustUnderstand = mustUnderstand || argument == .none
        case "stale-while-revalidate": Self.set(&staleWhileRevalidate, Self.seconds(argument) ?? 0, min)
        case "stale-if-error": Self.set(&staleIfError, Self.seconds(argument) ?? 0, min)
        case "min-fresh": Self.set(&minFresh, Self.seconds(argument), max)
        case "max-stale": Self.set(&maxStale, argument == .none ? .max : Self.seconds(argument), min)
        default: break
        }
    }

    private static func setLifetime(_ lifetime: inout Int?, _ argument: Argument) {
        let seconds = seconds(argument) ?? 0
        lifetime = lifetime == nil || lifetime == seconds ? seconds : 0
    }

    private static func set(_ value: inout Int?, _ seconds: Int?, _ restrict: (Int, Int) -> Int) {
        guard let seconds else { return }
        value = value.map { restrict($0, seconds) } ?? seconds
    }

    private static func seconds(_ argument: Argument) -> Int? {
        guard case .text(let text) = argument else { return nil }
        return seconds(text.utf8)
    }

    /// Parses a number of seconds; returns `nil` for anything but digits.
    static func seconds(_ digits: some Collection<UInt8>) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = min(value * 10 + Int(byte - UInt8(ascii: "0")), maximumSeconds)
        }
        return value
    }

    private static func add(_ argument: Argument, to scope: inout FieldScope?) {
        guard case .text(let list) = argument, scope != .all else {
            scope = .all
            return
        }
        var names = scope?.names ?? []
        for element in list.split(separator: ",") {
            guard let name = HTTPField.Name(String(element.trimmed)) else {
                scope = .all
                return
            }
            names.append(name)
        }
        scope = names.isEmpty ? .all : .fields(names)
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at both ends.
    var trimmed: Substring {
        var text = Substring(self).utf8.drop(while: \.isOptionalWhitespace)
        while text.last?.isOptionalWhitespace == true { text.removeLast() }
        return Substring(text)
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    var isOptionalWhitespace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
