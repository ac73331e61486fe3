import Foundation

/// Parameters as a JSON object in the body, keys sorted at every level so that equal parameters give equal bytes.
///
/// `nil` drops the key, `NSNull` is `null`; a whole `Double` is written without a fraction.
///
/// **Effects**: sets `Content-Type: application/json` unless there is one.
///
/// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the value that JSON cannot hold.
///
/// Source: RFC 8259, https://www.rfc-editor.org/rfc/rfc8259.html
public struct JSONEncoding: ParameterEncoding {
    /// Whether the JSON is indented.
    public var isPrettyPrinted: Bool
    /// How dates are written.
    public var dateEncoding: DateTextEncoding

    /// Writes one line, keys sorted.
    public static let `default` = JSONEncoding()
    /// Writes indented lines, keys sorted.
    public static let prettyPrinted = JSONEncoding(isPrettyPrinted: true)

    /// Makes an encoding.
    public init(isPrettyPrinted: Bool = false, dateEncoding: DateTextEncoding = .iso8601) {
        self.isPrettyPrinted = isPrettyPrinted
        self.dateEncoding = dateEncoding
    }

    /// Writes the parameters into the body.
    public func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = isPrettyPrinted ? [.sortedKeys, .prettyPrinted] : .sortedKeys
        request.body = .bytes(try encoder.encode(ParameterTree(parameters, dates: dateEncoding)))
        request.setContentTypeIfAbsent("application/json")
    }
}

extension ParameterTree: Encodable {
    func encode(to encoder: any Encoder) throws {
        if case .object(let members) = self {
            var container = encoder.container(keyedBy: AnyCodingKey.self)
            for member in members {
                try container.encode(member.value, forKey: AnyCodingKey(stringValue: member.key))
            }
            return
        }
        // A container, since a Decimal that encodes itself becomes an object of its parts instead of a number.
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
