import Foundation

extension ParameterTree: Encodable {
    func encode(to encoder: any Encoder) throws {
        if case .object(let members) = self {
            var container = encoder.container(keyedBy: AnyCodingKey.self)
            for member in members {
                try container.encode(member.value, forKey: AnyCodingKey(stringValue: member.key))
            }
            return
        }
        // A container is needed because a Decimal that encodes itself becomes an object, not a number.
        var container = encoder.singleValueContainer()
        switch self {
        case .null, .object: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .file(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        }
    }
}

extension ParameterTree: Decodable {
    /// Decodes JSON of any kind, with numbers as exact as `Decimal` holds them; the time grows with the depth.
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
        } else if let value = try? container.decode([ParameterTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: ParameterTree].self).map { ($0.key, $0.value) })
        }
    }
}

extension ParameterTree {
    /// Returns the value at a key path, or `nil` if there is none.
    func value(at keyPath: Substring) -> ParameterTree? {
        guard !keyPath.isEmpty else { return self }
        if case .object = self, let value = child(keyPath) { return value }
        var end = keyPath.startIndex
        while let dot = keyPath[end...].firstIndex(of: ".") {
            if let found = child(keyPath[..<dot])?.value(at: keyPath[keyPath.index(after: dot)...]) { return found }
            end = keyPath.index(after: dot)
        }
        return child(keyPath)
    }

    /// Reads the value at a path of keys and indices, for an error; `nil` if there is none.
    ///
    /// Also `nil` if the text has more than 1 MiB: an error is not worth the time to read it again.
    init?(of data: Data, at path: [any CodingKey]) {
        guard data.count <= 1 << 20 else { return nil }
        var tree = try? JSONDecoder().decode(ParameterTree.self, from: data)
        for step in path { tree = tree?.child(step.intValue.map { "\($0)" } ?? step.stringValue[...]) }
        guard let tree else { return nil }
        self = tree
    }

    /// What the value is in JSON, with an article.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number, .double: "a number"
        case .string, .date, .data, .file: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Returns the member of an object with this name, or the element of an array at this index.
    func child(_ name: Substring) -> ParameterTree? {
        switch self {
        case .object(let members): members.first { $0.key == name }?.value
        case .array(let elements): Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        default: nil
        }
    }
}
