#if Crypto || canImport(CryptoKit)
import Foundation
import HTTPTypes
import RawStructuredFieldValues

/// The head of a message, as far as a signature may cover it.
///
/// Source: RFC 9421 §2, https://www.rfc-editor.org/rfc/rfc9421.html#section-2
struct SignedMessage {
    /// The request itself, or the one that led to the response.
    let request: HTTPRequest?
    /// The response; `nil` if the message is a request.
    let response: HTTPResponse?
    private let parsed = Parsed()

    /// What has been parsed, so that no part of the message is parsed for each component that refers to it.
    private final class Parsed {
        var dictionaries: [String: StructuredFields.Members] = [:]
        var parameters: [String: [String]]?
    }

    init(_ request: HTTPRequest) { (self.request, response) = (request, nil) }

    init(_ response: HTTPResponse, to request: HTTPRequest?) { (self.request, self.response) = (request, response) }

    /// The fields of the message itself.
    var fields: HTTPFields { response?.headerFields ?? request?.headerFields ?? [:] }

    /// Returns the text that is signed, after the `: ` that follows the identifier.
    func value(of component: SignatureComponent) throws(MessageSignatureError) -> String {
        guard response != nil || !component.isOfRequest else {
            throw MessageSignatureError(.unsupportedComponent, component.description)
        }
        let value: String
        if let response, !component.isOfRequest {
            value = try self.value(of: component, in: response)
        } else {
            guard let request else { throw MessageSignatureError(.missingComponent, component.description) }
            value = try self.value(of: component, in: request)
        }
        // Anything else could forge a line, or is not part of a signature base (RFC 9421 §2.5).
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            throw MessageSignatureError(.unsupportedComponent, component.description)
        }
        return value
    }

    private func value(
        of component: SignatureComponent,
        in response: HTTPResponse
    ) throws(MessageSignatureError) -> String {
        guard component.isDerived else { return try value(of: component, in: response.headerFields) }
        guard component == .status else { throw MessageSignatureError(.unsupportedComponent, component.description) }
        return String(response.status.code)
    }

    private func value(
        of component: SignatureComponent,
        in request: HTTPRequest
    ) throws(MessageSignatureError) -> String {
        guard component.isDerived else { return try value(of: component, in: request.headerFields) }
        let target = SignedTarget(request)
        let value: String? =
            switch component.name {
            case "@method": request.method.rawValue
            case "@target-uri": target.uri
            case "@authority": target.authority
            case "@scheme": target.scheme
            case "@request-target": target.requestTarget
            case "@path": target.path
            case "@query": target.query.map { "?" + $0 }
            case "@query-param": component.parameterName.flatMap { parameter($0, of: target) }
            default: throw MessageSignatureError(.unsupportedComponent, component.description)
            }
        guard let value else { throw MessageSignatureError(.missingComponent, component.description) }
        return value
    }

    private func value(
        of component: SignatureComponent,
        in fields: HTTPFields
    ) throws(MessageSignatureError) -> String {
        guard let name = HTTPField.Name(component.name), fields.contains(name) else {
            throw MessageSignatureError(.missingComponent, component.description)
        }
        let lines = fields[fields: name]
        if component.isBinary { return Self.binaryText(of: lines) }
        // Values of Set-Cookie may contain commas, so several lines combine into an ambiguous text (RFC 9421 §7.5.6).
        guard name != .setCookie || lines.count == 1 else {
            throw MessageSignatureError(.unsupportedComponent, component.description)
        }
        let separator = name == .cookie ? "; " : ", "
        let text = lines.map { $0.value.trimmingCharacters(in: Self.blanks) }.joined(separator: separator)
        if let key = component.key {
            if parsed.dictionaries[text] == nil { parsed.dictionaries[text] = try StructuredFields.dictionary(text) }
            guard let member = parsed.dictionaries[text]?[key] else {
                throw MessageSignatureError(.missingComponent, component.description)
            }
            return try StructuredFields.normalText(of: member)
        }
        guard component.isStructured else { return text }
        guard let normal = try StructuredFields.normalText(of: text, field: component.name) else {
            throw MessageSignatureError(.unsupportedComponent, component.description)
        }
        return normal
    }

    /// Returns the encoded value of the query parameter with an encoded name; `nil` unless the name occurs once.
    private func parameter(_ name: String, of target: SignedTarget) -> String? {
        let parameters = parsed.parameters ?? target.parameters
        parsed.parameters = parameters
        return parameters[name].flatMap { $0.count == 1 ? $0[0] : nil }
    }

    private static func binaryText(of lines: [HTTPField]) -> String {
        lines.map { line in
            let bytes = line.withUnsafeBytesOfValue { Array($0) }
            let trimmed = bytes.drop { isBlank($0) }.reversed().drop { isBlank($0) }.reversed()
            return ":" + Data(trimmed).base64EncodedString() + ":"
        }.joined(separator: ", ")
    }

    private static let blanks = CharacterSet(charactersIn: " \t")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
#endif
