#if Crypto || canImport(CryptoKit)
import Foundation
import RawStructuredFieldValues

/// Parses and serializes the structured fields of signatures.
///
/// Source: RFC 9651, https://www.rfc-editor.org/rfc/rfc9651.html
enum StructuredFields {
    typealias Members = OrderedMap<String, ItemOrInnerList>

    static let maximumByteCount = 8_192
    /// The largest number of members of a field, and of parameters of an item.
    ///
    /// The parser compares each key with all others, so more would cost too much.
    static let maximumCount = 128

    /// Parses a dictionary; if a key is repeated, its last member counts.
    static func dictionary(_ text: String) throws(MessageSignatureError) -> Members {
        try parse(text) { parser in try parser.parseDictionaryFieldValue() }
    }

    /// Parses a dictionary in which each key may occur once.
    static func uniqueDictionary(_ text: String, maximumCount: Int) throws(MessageSignatureError) -> Members {
        let count = counts(of: text).members
        guard count <= maximumCount else { throw MessageSignatureError(.limit) }
        let members = try dictionary(text)
        guard members.count == count || text.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) else {
            throw MessageSignatureError(.malformed)
        }
        return members
    }

    /// Returns the bytes of an item that is a byte sequence without regard to its parameters; `nil` for any other.
    static func bytes(of member: ItemOrInnerList) -> Data? {
        guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem else {
            return nil
        }
        return decoded(text)
    }

    static func byteSequence(_ bytes: Data) -> ItemOrInnerList {
        .item(Item(bareItem: RFC9651BareItem.undecodedByteSequence(bytes.base64EncodedString()), parameters: [:]))
    }

    // MARK: Texts

    static func text(of members: Members) throws(MessageSignatureError) -> String {
        try write { try $0.writeDictionaryFieldValue(members) }
    }

    static func text(of item: Item) throws(MessageSignatureError) -> String {
        try write { try $0.writeItemFieldValue(item) }
    }

    static func text(of list: InnerList) throws(MessageSignatureError) -> String {
        try write { try $0.writeListFieldValue([.innerList(list)]) }
    }

    /// Returns the normal form of a field with a registered type; `nil` if the type is unknown.
    static func normalText(of text: String, field name: String) throws(MessageSignatureError) -> String? {
        if dictionaryFields.contains(name) {
            var members = try dictionary(text)
            for (key, member) in members { members[key] = try normalized(member) }
            return try self.text(of: members)
        }
        if listFields.contains(name) {
            let members = try parse(text) { parser in try parser.parseListFieldValue() }
            var normal: [ItemOrInnerList] = []
            for member in members { normal.append(try normalized(member)) }
            let list = normal
            return try write { try $0.writeListFieldValue(list) }
        }
        guard itemFields.contains(name) else { return nil }
        let item = try parse(text) { parser in try parser.parseItemFieldValue() }
        return try self.text(of: normalized(item))
    }

    /// Returns the normal form of a member of a dictionary.
    static func normalText(of member: ItemOrInnerList) throws(MessageSignatureError) -> String {
        switch try normalized(member) {
        case .item(let item): return try self.text(of: item)
        case .innerList(let list): return try self.text(of: list)
        }
    }

    // MARK: Parsing

    private static func parse<Output>(
        _ text: String,
        _ body: (inout StructuredFieldValueParser<[UInt8]>) throws -> Output
    ) throws(MessageSignatureError) -> Output {
        guard text.utf8.count <= maximumByteCount else { throw MessageSignatureError(.limit) }
        let counts = counts(of: text)
        guard max(counts.members, counts.parameters) <= maximumCount else { throw MessageSignatureError(.limit) }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        do { return try body(&parser) } catch { throw MessageSignatureError(.malformed) }
    }

    private static func write(
        _ body: (inout StructuredFieldValueSerializer) throws -> [UInt8]
    ) throws(MessageSignatureError) -> String {
        var serializer = StructuredFieldValueSerializer()
        do { return String(decoding: try body(&serializer), as: UTF8.self) } catch {
            throw MessageSignatureError(.malformed)
        }
    }

    /// Returns the number of members before repeated keys are merged, and the largest number of parameters of an item.
    ///
    /// Outside quotation marks, commas separate members, and semicolons begin parameters. Blanks may follow these.
    private static func counts(of text: String) -> (members: Int, parameters: Int) {
        var (members, parameters, current) = (1, 0, 0)
        var (isQuoted, isEscaped, isDisplayString) = (false, false, false)
        var last: UInt8 = 0
        for byte in text.utf8 {
            if isQuoted {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\"), !isDisplayString {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (isQuoted, isDisplayString) = (true, last == UInt8(ascii: "%"))
            case UInt8(ascii: ","): (members, current) = (members + 1, 0)
            case UInt8(ascii: ";"):
                current += 1
                parameters = max(parameters, current)
            case UInt8(ascii: " ") where last == UInt8(ascii: ";"): continue
            case UInt8(ascii: " "), UInt8(ascii: ")"): current = 0
            default: break
            }
            last = byte
        }
        return (members, parameters)
    }

    private static func decoded(_ text: String) -> Data? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }

    private static func normalized(_ member: ItemOrInnerList) throws(MessageSignatureError) -> ItemOrInnerList {
        switch member {
        case .item(let item): return .item(try normalized(item))
        case .innerList(var list):
            for index in list.bareInnerList.indices {
                list.bareInnerList[index] = try normalized(list.bareInnerList[index])
            }
            list.rfc9651Parameters = try normalized(list.rfc9651Parameters)
            return .innerList(list)
        }
    }

    private static func normalized(_ item: Item) throws(MessageSignatureError) -> Item {
        Item(bareItem: try normalized(item.rfc9651BareItem), parameters: try normalized(item.rfc9651Parameters))
    }

    private static func normalized(
        _ parameters: OrderedMap<String, RFC9651BareItem>
    ) throws(MessageSignatureError) -> OrderedMap<String, RFC9651BareItem> {
        var parameters = parameters
        for (key, value) in parameters { parameters[key] = try normalized(value) }
        return parameters
    }

    /// The parser leaves byte sequences undecoded, so their padding may be missing.
    private static func normalized(_ value: RFC9651BareItem) throws(MessageSignatureError) -> RFC9651BareItem {
        guard case .undecodedByteSequence(let text) = value else { return value }
        guard let bytes = decoded(text) else { throw MessageSignatureError(.malformed) }
        return .undecodedByteSequence(bytes.base64EncodedString())
    }

    // MARK: Types

    /// Fields that the HTTP field name registry lists as dictionaries, and older ones whose syntax is compatible.
    private static let dictionaryFields: Set<String> = [
        "accept-signature", "alt-svc", "cache-control", "cdn-cache-control", "content-digest", "keep-alive", "prefer",
        "preference-applied", "priority", "repr-digest", "signature", "signature-input", "surrogate-control",
        "want-content-digest", "want-repr-digest",
    ]
    private static let listFields: Set<String> = [
        "accept", "accept-ch", "accept-encoding", "accept-language", "accept-patch", "accept-post", "accept-ranges",
        "access-control-allow-headers", "access-control-allow-methods", "access-control-expose-headers",
        "access-control-request-headers", "allow", "cache-status", "client-cert-chain", "content-encoding",
        "content-language", "proxy-status", "server-timing", "te", "trailer", "transfer-encoding", "vary",
    ]
    private static let itemFields: Set<String> = [
        "access-control-max-age", "age", "client-cert", "content-type", "cross-origin-embedder-policy",
        "cross-origin-opener-policy", "cross-origin-resource-policy", "deprecation", "idempotency-key",
        "max-forwards", "origin-agent-cluster", "retry-after",
    ]
}
#endif
