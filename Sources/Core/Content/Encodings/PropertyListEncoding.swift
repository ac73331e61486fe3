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
        request.body = .bytes(try encoder.encode(PropertyListNode(tree: tree, isXML: isXML, path: [])))
        request.setContentTypeIfAbsent("application/x-plist")
    }
}

/// A value that fails to encode if a property list cannot hold it.
private struct PropertyListNode: Encodable {
    /// The dates that have a four-digit year.
    private static let dates = Date.distantPast..<Date(timeIntervalSince1970: 253_402_300_800)

    let tree: ParameterTree
    let isXML: Bool
    let path: [String]

    func encode(to encoder: any Encoder) throws {
        switch tree {
        case .object(let members):
            var container = encoder.container(keyedBy: AnyCodingKey.self)
            for member in members {
                let node = PropertyListNode(tree: member.value, isXML: isXML, path: path + [member.key])
                try node.check(member.key)
                try container.encode(node, forKey: AnyCodingKey(stringValue: member.key))
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for (offset, element) in elements.enumerated() {
                try container.encode(PropertyListNode(tree: element, isXML: isXML, path: path + [String(offset)]))
            }
        case .null:
            throw refusal("null, which a property list cannot hold")
        case .number(let number):
            try encode(number, to: encoder)
        case .date(let date) where isXML && !Self.dates.contains(date):
            throw refusal("a date outside the years 1 to 9999")
        default:
            if case .string(let text) = tree { try check(text) }
            try tree.encode(to: encoder)
        }
    }

    /// Checks a text for characters that XML cannot hold.
    private func check(_ text: String) throws {
        let isValid = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 ? $0.value & 0xfffe != 0xfffe || $0.value > 0xffff : "\t\r\n".unicodeScalars.contains($0)
        }
        guard !isXML || isValid else { throw refusal("a text with a character that XML cannot hold") }
    }

    private func encode(_ number: Decimal, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let text = "\(number)"
        if let value = Int64(text) { return try container.encode(value) }
        if let value = UInt64(text) { return try container.encode(value) }
        guard text.contains("."), let value = Double(text) else { throw refusal("an integer of more than 64 bits") }
        try container.encode(value)
    }

    private func refusal(_ what: String) -> PipelineError { ParameterTree.failure(.init(what), path: path) }
}
