#if Crypto || canImport(CryptoKit)
public import Foundation
import RawStructuredFieldValues

/// What a signature covers, and its parameters.
///
/// `MessageVerifier` passes it to `keys` before it has verified the signature, and returns it afterwards.
///
/// Source: RFC 9421 §2.3, https://www.rfc-editor.org/rfc/rfc9421.html#section-2.3
public struct MessageSignature: Sendable, Hashable {
    /// The label that connects the two fields; it is not signed.
    public let label: String
    /// The covered components, in order.
    public let components: [SignatureComponent]
    /// When the signature was created.
    public private(set) var created: Date?
    /// When the signature expires.
    public private(set) var expires: Date?
    /// The identifier of the key.
    public private(set) var keyID: String?
    /// The name of the algorithm; the verifier uses that of the key, which must be the same.
    public private(set) var algorithm: String?
    /// A value that a server may accept once.
    public private(set) var nonce: String?
    /// The name of the application that the signature is meant for.
    public private(set) var tag: String?

    /// The identifiers as they are signed, with their parameters in the order of the message.
    let identifiers: [String]
    /// The value of `@signature-params`.
    let list: InnerList

    static let maximumComponentCount = 64

    init(label: String, _ list: InnerList) throws(MessageSignatureError) {
        guard list.bareInnerList.count <= Self.maximumComponentCount else { throw MessageSignatureError(.limit) }
        self.label = label
        var components: [SignatureComponent] = []
        var identifiers: [String] = []
        for item in list.bareInnerList {
            let component = try SignatureComponent(item)
            guard !components.contains(component) else {
                throw MessageSignatureError(.malformed, component.description)
            }
            components.append(component)
            identifiers.append(try StructuredFields.text(of: item))
        }
        (self.components, self.identifiers) = (components, identifiers)
        self.list = list
        for (name, value) in list.rfc9651Parameters {
            switch (name, value) {
            case ("created", .integer(let seconds)): created = Date(timeIntervalSince1970: Double(seconds))
            case ("expires", .integer(let seconds)): expires = Date(timeIntervalSince1970: Double(seconds))
            case ("keyid", .string(let text)): keyID = text
            case ("alg", .string(let text)): algorithm = text
            case ("nonce", .string(let text)): nonce = text
            case ("tag", .string(let text)): tag = text
            case ("created", _), ("expires", _), ("keyid", _), ("alg", _), ("nonce", _), ("tag", _):
                throw MessageSignatureError(.malformed)
            default: break
            }
        }
    }

    /// Returns the bytes that are signed.
    func base(of message: SignedMessage) throws(MessageSignatureError) -> Data {
        var base = ""
        for (identifier, component) in zip(identifiers, components) {
            base += "\(identifier): \(try message.value(of: component))\n"
        }
        return Data("\(base)\"@signature-params\": \(try StructuredFields.text(of: list))".utf8)
    }
}
#endif
