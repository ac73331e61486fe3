import Foundation

/// A parameter encoding that writes a property list into the body.
///
/// Keys are sorted at every level, so that equal parameters encode to equal bytes.
///
/// Dates and bytes are written in their own types, a whole number as an integer, and a `Double` as a real. A key whose
/// value is `nil` is omitted. An XML property list stores dates to the second.
///
/// **Effects**: sets `Content-Type: application/x-plist` unless the request has a Content-Type.
///
/// **Errors**: ``PipelineError/Code-swift.struct/encoding`` with the key of the value that a property list cannot hold:
/// `NSNull`, `nil` in an array, or an integer of more than 64 bits. In XML, also a text with a character that XML
/// cannot hold, such as a control character, and a date outside the years 1 to 9999.
///
/// Source: https://www.apple.com/DTDs/PropertyList-1.0.dtd
public struct PropertyListEncoding: ParameterEncoding {
    private let isXML: Bool

    /// An encoding that writes an XML property list.
    public static let xml = PropertyListEncoding(isXML: true)
    /// An encoding that writes a binary property list (`bplist00`).
    public static let binary = PropertyListEncoding(isXML: false)

    /// Writes the parameters as a property list into the request's body.
    public func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
        let tree = try ParameterTree(parameters, dates: nil)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isXML ? .xml : .binary
        request.body = .bytes(try encoder.encode(PropertyListNode(tree, isXML: isXML, path: [])))
        request.setContentTypeIfAbsent("application/x-plist")
    }
}

/// A tree that a property list can hold.
private enum PropertyListNode: Encodable {
    case object([(key: String, value: PropertyListNode)])
    case array([PropertyListNode])
    case scalar(any Encodable)

    /// The dates that have a four-digit year.
    private static let dates = Date.distantPast..<Date(timeIntervalSince1970: 253_402_300_800)

    init(_ tree: ParameterTree, isXML: Bool, path: [String]) throws {
        switch tree {
        case .object(let members):
            self = .object(
                try members.map { member in
                    let path = path + [member.key]
                    try Self.check(member.key, isXML, path)
                    return (member.key, try PropertyListNode(member.value, isXML: isXML, path: path))
                }
            )
        case .array(let elements):
            self = .array(
                try elements.enumerated().map { offset, element in
                    try PropertyListNode(element, isXML: isXML, path: path + [String(offset)])
                }
            )
        case .string(let text):
            try Self.check(text, isXML, path)
            self = .scalar(text)
        case .date(let date):
            guard !isXML || Self.dates.contains(date) else {
                throw ParameterTree.failure(.init("a date outside the years 1 to 9999"), path: path)
            }
            self = .scalar(date)
        case .number(let number):
            self = .scalar(try Self.value(of: number, path))
        case .null:
            throw ParameterTree.failure(.init("null, which a property list cannot hold"), path: path)
        case .bool(let value): self = .scalar(value)
        case .double(let value): self = .scalar(value)
        case .data(let value): self = .scalar(value)
        case .file(let value): self = .scalar(value)
        }
    }

    /// Rejects text that XML cannot hold, such as most control characters (XML 1.0 §2.2).
    private static func check(_ text: String, _ isXML: Bool, _ path: [String]) throws {
        let isValid = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 ? $0.value & 0xfffe != 0xfffe || $0.value > 0xffff : "\t\r\n".unicodeScalars.contains($0)
        }
        guard !isXML || isValid else {
            throw ParameterTree.failure(.init("a text with a character that XML cannot hold"), path: path)
        }
    }

    private static func value(of number: Decimal, _ path: [String]) throws -> any Encodable {
        let text = "\(number)"
        if let value = Int64(text) { return value }
        if let value = UInt64(text) { return value }
        guard text.contains("."), let value = Double(text) else {
            throw ParameterTree.failure(.init("an integer of more than 64 bits"), path: path)
        }
        return value
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: AnyCodingKey.self)
            for member in members {
                try container.encode(member.value, forKey: AnyCodingKey(stringValue: member.key))
            }
        case .array(let elements):
            var container = encoder.singleValueContainer()
            try container.encode(elements)
        case .scalar(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}
