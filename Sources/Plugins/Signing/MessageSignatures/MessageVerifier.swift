#if Crypto || canImport(CryptoKit)
public import Foundation
public import HTTPTypes
import RawStructuredFieldValues

/// A verifier of HTTP message signatures, for servers and for responses of servers that sign.
///
/// ```swift
/// let verifier = MessageVerifier(
///     keys: { signature in signature.keyID == "client-1" ? key : nil },
///     required: [.method, .targetURI, .contentDigest]
/// )
/// let signature = try await verifier.verify(request: request, body: body)
/// ```
///
/// **Effects**
///
/// - Accepts a message if one of its signatures is valid, covers all required components, and is fresh. The others are
///   then ignored. Otherwise, throws the error of the first.
/// - The algorithm is the one of the key. A signature that states another is refused.
/// - If the signature covers Content-Digest, the field must belong to the body. If it does not, the body is not
///   protected: require ``SignatureComponent/contentDigest``.
/// - Does not detect that a message is sent twice: compare `nonce` with those of the last minutes.
/// - Limits the work for each message: 8 signatures, 64 components each, and in each structured field 8 KiB, 128
///   members, and 128 parameters of a member.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `tag` | `nil`: any | |
/// | `maximumAge` | 300 s; `nil` for no limit | 0 and up |
/// | `clockSkew` | 30 s | 0 and up |
///
/// **Errors**: ``MessageSignatureError``, and the errors of `keys`.
///
/// Source: RFC 9421 §3.2, https://www.rfc-editor.org/rfc/rfc9421.html#section-3.2
public struct MessageVerifier: Sendable {
    private let keys: @Sendable (MessageSignature) async throws -> MessageVerificationKey?
    private let required: [SignatureComponent]
    private let tag: String?
    private let maximumAge: Duration?
    private let clockSkew: Duration

    private static let maximumSignatureCount = 8

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - keys: returns the key of a signature, which has not been verified yet, usually by its `keyID`; `nil` if
    ///     there is none.
    ///   - required: the components that a signature must cover, in the same form; one or more, because a signature
    ///     that covers nothing is valid for every message.
    ///   - tag: the tag that a signature must have; `nil` for any or none.
    ///   - maximumAge: the time after its creation during which a signature is accepted; `nil` if only its own expiry
    ///     counts.
    ///   - clockSkew: how far the signer's clock may differ.
    public init(
        keys: @escaping @Sendable (_ signature: MessageSignature) async throws -> MessageVerificationKey?,
        required: [SignatureComponent],
        tag: String? = nil,
        maximumAge: Duration? = .seconds(300),
        clockSkew: Duration = .seconds(30)
    ) {
        precondition(!required.isEmpty, "required is empty; name the components that a signature must cover")
        if let maximumAge { precondition(maximumAge >= .zero, "maximumAge is \(maximumAge), not 0 or more") }
        precondition(clockSkew >= .zero, "clockSkew is \(clockSkew), not 0 or more")
        self.keys = keys
        self.required = required
        self.tag = tag
        self.maximumAge = maximumAge
        self.clockSkew = clockSkew
    }

    /// Verifies a request.
    ///
    /// - Parameters:
    ///   - request: the request with the scheme, authority and path that the client used, also behind a proxy.
    ///   - body: the body as it was received, before it is decompressed.
    ///   - date: the current time.
    /// - Returns: the first signature that is valid.
    /// - Throws: ``MessageSignatureError``, and the errors of `keys`.
    public func verify(
        request: HTTPRequest,
        body: Data,
        at date: Date = Date()
    ) async throws -> MessageSignature {
        try await verify(SignedMessage(request), body, date)
    }

    /// Verifies a response.
    ///
    /// - Parameters:
    ///   - response: the head of the response.
    ///   - body: the body as it was received, before it is decompressed.
    ///   - request: the request as it was sent, for components of the request.
    ///   - date: the current time.
    /// - Returns: the first signature that is valid.
    /// - Throws: ``MessageSignatureError``, and the errors of `keys`.
    public func verify(
        response: HTTPResponse,
        body: Data,
        request: HTTPRequest?,
        at date: Date = Date()
    ) async throws -> MessageSignature {
        try await verify(SignedMessage(response, to: request), body, date)
    }

    private func verify(_ message: SignedMessage, _ body: Data, _ date: Date) async throws -> MessageSignature {
        guard let input = message.fields[.signatureInput], let text = message.fields[.signature] else {
            throw MessageSignatureError(.missingSignature)
        }
        let inputs = try StructuredFields.uniqueDictionary(input, maximumCount: Self.maximumSignatureCount)
        let signatures = try StructuredFields.uniqueDictionary(text, maximumCount: Self.maximumSignatureCount)
        var failure: MessageSignatureError?
        for (label, member) in inputs {
            do {
                guard case .innerList(let list) = member else { throw MessageSignatureError(.malformed) }
                let signature = try MessageSignature(label: label, list)
                guard tag == nil || signature.tag == tag else { continue }
                guard let member = signatures[label] else { throw MessageSignatureError(.missingSignature) }
                guard let bytes = StructuredFields.bytes(of: member) else { throw MessageSignatureError(.malformed) }
                try await verify(signature, bytes, message, body, date)
                return signature
            } catch let error as MessageSignatureError {
                failure = failure ?? error
            }
        }
        throw failure ?? MessageSignatureError(.missingSignature)
    }

    private func verify(
        _ signature: MessageSignature,
        _ bytes: Data,
        _ message: SignedMessage,
        _ body: Data,
        _ date: Date
    ) async throws {
        for component in required where !signature.components.contains(component) {
            throw MessageSignatureError(.missingComponent, component.description)
        }
        try verifyTimes(of: signature, date)
        guard let key = try await keys(signature) else { throw MessageSignatureError(.unknownKey) }
        guard signature.algorithm == nil || signature.algorithm == key.algorithm.name else {
            throw MessageSignatureError(.algorithmMismatch)
        }
        guard key.isValid(bytes, try signature.base(of: message)) else {
            throw MessageSignatureError(.signatureMismatch)
        }
        let digests = signature.components.filter(\.coversBody)
        guard !digests.isEmpty else { return }
        let isWhole = digests.contains { $0.key == nil }
        let members = isWhole ? nil : Set(digests.compactMap(\.key))
        try ContentDigest.verify(body, fields: message.fields, keys: members)
    }

    private func verifyTimes(of signature: MessageSignature, _ date: Date) throws(MessageSignatureError) {
        if let created = signature.created, created > date + clockSkew.timeInterval {
            throw MessageSignatureError(.createdInFuture)
        }
        if let expires = signature.expires, expires < date - clockSkew.timeInterval {
            throw MessageSignatureError(.expired)
        }
        guard let maximumAge else { return }
        guard let created = signature.created else { throw MessageSignatureError(.missingCreationTime) }
        guard created >= date - maximumAge.timeInterval - clockSkew.timeInterval else {
            throw MessageSignatureError(.expired)
        }
    }
}

extension Duration {
    fileprivate var timeInterval: TimeInterval { self / .seconds(1) }
}
#endif
