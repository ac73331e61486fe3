import Foundation

/// A JSON value of any kind, with numbers as exact as `Decimal` holds them.
enum JSONTree: Codable {
    case null
    case bool(Bool)
    case number(Decimal)
    case double(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The deepest nesting allowed; the time to decode a value grows with its depth.
    private static let maximumDepth = 64

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            let reason = "nested deeper than \(Self.maximumDepth) levels"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// Returns the value at a key path, or `nil` if there is none.
    func value(at keyPath: Substring) -> JSONTree? {
        guard !keyPath.isEmpty else { return self }
        if case .object(let members) = self, let value = members[String(keyPath)] { return value }
        var end = keyPath.startIndex
        while let dot = keyPath[end...].firstIndex(of: ".") {
            if let found = child(keyPath[..<dot])?.value(at: keyPath[keyPath.index(after: dot)...]) { return found }
            end = keyPath.index(after: dot)
        }
        return child(keyPath)
    }

    /// Returns the member of an object with this name, or the element of an array at this index.
    func child(_ name: Substring) -> JSONTree? {
        switch self {
        case .object(let members): members[String(name)]
        case .array(let elements): Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        default: nil
        }
    }
}
