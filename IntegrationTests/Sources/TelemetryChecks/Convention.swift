import Foundation

/// What the conventions say of one signal: a span or a metric.
package struct Convention: Sendable {
    /// An attribute as one signal uses it.
    package struct Attribute: Sendable {
        /// A level such as `required`.
        package let level: String
        /// The condition of the level, in words; empty if there is none.
        package let condition: String
    }

    /// The kind of the span or the instrument of the metric.
    package let kind: String
    /// The unit of the metric; empty for a span.
    package let unit: String
    /// The attributes by name.
    package let attributes: [String: Attribute]

    /// The signals by name.
    package static let signals = parsed.signals

    /// The types of attributes by name, such as `string` or `int`.
    static let types = parsed.types

    /// The methods that instrumentations know by default, and `_OTHER`.
    static let methods = parsed.methods

    static let clientSpan = "span.http.client"

    private static let parsed = parse(table)

    private static func parse(
        _ table: String
    ) -> (signals: [String: Convention], types: [String: String], methods: Set<String>) {
        let blocks = table.components(separatedBy: "\n\n").map { block in
            block.split(separator: "\n").map { $0.components(separatedBy: " | ") }
        }
        var types: [String: String] = [:]
        for row in blocks[0] { types[row[0]] = row[1] }
        var signals: [String: Convention] = [:]
        for block in blocks.dropFirst() {
            var attributes: [String: Attribute] = [:]
            for row in block.dropFirst() {
                attributes[row[0]] = Attribute(level: row[1], condition: row.count > 2 ? row[2] : "")
            }
            signals[block[0][0]] = Convention(
                kind: block[0][1],
                unit: block[0].count > 2 ? block[0][2] : "",
                attributes: attributes
            )
        }
        let methods = blocks[0].first { $0[0] == "http.request.method" }?[2].split(separator: " ").map(String.init)
        return (signals, types, Set(methods ?? []))
    }
}

extension Convention {
    /// A value of an attribute.
    package enum Value: Sendable, Hashable {
        case string(String)
        case int(Int64)
        case bool(Bool)
        case other(String)

        var type: String {
            switch self {
            case .string: "string"
            case .int: "int"
            case .bool: "bool"
            case .other(let text): text
            }
        }

        var text: String {
            switch self {
            case .string(let text), .other(let text): text
            case .int(let number): "\(number)"
            case .bool(let flag): "\(flag)"
            }
        }
    }

    /// Checks a set of attributes, except those whose names begin with `pipeline.`.
    ///
    /// - Parameters:
    ///   - values: the attributes.
    ///   - knownMethods: the methods that the instrumentation knows.
    /// - Returns: the violations.
    func violations(_ values: [String: Value], knownMethods: Set<String>) -> [String] {
        var result: [String] = []
        for (name, value) in values where !name.hasPrefix("pipeline.") {
            guard attributes[name] != nil else {
                result.append("\(name) does not belong to the signal")
                continue
            }
            if Self.types[name] != value.type {
                result.append("\(name) is \(value.type), not \(Self.types[name] ?? "")")
            }
            if let reason = Self.fault(of: name, value.text, knownMethods) {
                result.append("\(name) is \(value.text), \(reason)")
            }
        }
        for (name, attribute) in attributes where attribute.level == "required" && values[name] == nil {
            result.append("\(name) is missing")
        }
        return result + conditions(values)
    }

    /// Returns the violations of conditions that depend on other attributes.
    private func conditions(_ values: [String: Value]) -> [String] {
        var result: [String] = []
        func require(_ condition: Bool, _ text: String) { if !condition { result.append(text) } }
        let status = values["http.response.status_code"].flatMap { Int($0.text) }
        let error = values["error.type"]?.text
        if attributes["error.type"] != nil, let status {
            if !(100..<400).contains(status) {
                require(error != nil, "error.type is missing for status \(status)")
            } else if let error {
                require(Int(error) == nil, "error.type is \(error) for status \(status)")
            }
        }
        if let number = error.flatMap({ Int($0) }) { require(number == status, "error.type is not the status") }
        if attributes["http.request.method_original"] != nil {
            let isOther = values["http.request.method"]?.text == "_OTHER"
            let original = values["http.request.method_original"]?.text
            require(isOther == (original != nil), "http.request.method_original is \(original ?? "missing")")
        }
        if attributes["network.peer.port"] != nil, values["network.peer.port"] != nil {
            require(values["network.peer.address"] != nil, "network.peer.port is without network.peer.address")
        }
        return result
    }

    /// Returns why an attribute cannot have a value; `nil` if it can.
    static func fault(of name: String, _ text: String, _ knownMethods: Set<String>) -> String? {
        let isGood =
            switch name {
            case "http.request.method": knownMethods.contains(text) || text == "_OTHER"
            case "http.request.resend_count": (Int(text) ?? 0) >= 1
            case "http.response.status_code": (0...999).contains(Int(text) ?? -1)
            case "server.port": (0...65_535).contains(Int(text) ?? -1)
            case "network.peer.port": (1...65_535).contains(Int(text) ?? -1)
            case "server.address", "network.peer.address":
                !text.isEmpty && !text.contains { "[]/@ ".contains($0) }
            case "network.protocol.version": ["1.0", "1.1", "2", "3"].contains(text)
            case "url.scheme": ["http", "https"].contains(text)
            case "url.template": text.hasPrefix("/")
            case "url.full": hasServerOnly(text)
            case "error.type": !text.isEmpty && text.count < 50 && !text.contains(" ")
            default: true
            }
        return isGood ? nil : "which is not allowed"
    }

    /// Returns whether a URL is absolute and has no user name and no password.
    private static func hasServerOnly(_ url: String) -> Bool {
        guard let scheme = url.range(of: "://"), ["http", "https"].contains(url[..<scheme.lowerBound]) else {
            return false
        }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return !authority.isEmpty && !authority.contains("@")
    }
}
