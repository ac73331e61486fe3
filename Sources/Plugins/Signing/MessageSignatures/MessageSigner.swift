#if Crypto || canImport(CryptoKit)
import Foundation
import HTTPTypes
public import PipelineCore
import RawStructuredFieldValues

/// A signer that adds HTTP message signatures, for `SigningPlugin`.
///
/// ```swift
/// let signer = MessageSigner(
///     components: [.method, .targetURI, .contentDigest],
///     ifPresent: [.field(.contentType)],
///     key: try MessageSigningKey(pem: text, algorithm: .ed25519),
///     keyID: "client-1",
///     expires: .seconds(300)
/// )
/// ```
///
/// **Effects**
///
/// - Adds a member to Signature-Input and Signature. A signature that another party has added is kept; one with the
///   same label is replaced.
/// - If Content-Digest is covered, sets it unless the present value belongs to the body. The body is hashed as it is
///   sent. A file, or a stream that can be read again, is read an extra time for this. An absent body counts as empty.
/// - A stream that can be read only once is not read: its Content-Digest must have been set by the caller.
/// - The time comes from the context's clock, in whole seconds.
/// - A transport sets Host and Content-Length later, so they cannot be covered unless the request has them.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `ifPresent` | none |
/// | `label` | `sig1` |
/// | `expires` | `nil`: no expiry, but the time of creation is always stated |
/// | `tag` | `nil` |
/// | `includesNonce` | `false`; otherwise 128 random bits |
/// | `includesAlgorithm` | `false`, because the key determines it |
/// | `digest` | SHA-256 |
/// | `allowsUndigestedStreams` | `false` |
///
/// **Errors**: `invalidRequest.body` for a stream that can be read only once; ``MessageSignatureError`` for a component
/// that the request does not have, or for malformed signature fields. Nothing is then sent.
///
/// **Secrets**: marks the three fields as secret. Neither its description nor `dump` shows the key.
///
/// Source: RFC 9421, https://www.rfc-editor.org/rfc/rfc9421.html
public struct MessageSigner: RequestSigner, SafelyDescribed {
    /// `true`: the signer has one key.
    public var hasOneKey: Bool { true }

    private let components: [SignatureComponent]
    private let optionalComponents: [SignatureComponent]
    private let key: MessageSigningKey
    private let keyID: String?
    private let label: String
    private let expires: Duration?
    private let tag: String?
    private let includesAlgorithm: Bool
    private let digest: ContentDigest
    private let allowsUndigestedStreams: Bool
    /// Returns a new nonce; `nil` if signatures have none.
    var makeNonce: (@Sendable () -> String)?

    /// Makes a signer.
    ///
    /// - Parameters:
    ///   - components: what each signature covers.
    ///   - ifPresent: what a signature covers as well if the request has it.
    ///   - key: the key that signs.
    ///   - keyID: the name by which the verifier knows the key.
    ///   - label: the key of the signature in both fields: lower-case letters, digits, and `_-.*`.
    ///   - expires: how long a signature is valid, in whole seconds.
    ///   - tag: the name of the application that the signature is meant for.
    ///   - includesNonce: whether each signature has a random nonce.
    ///   - includesAlgorithm: whether the signature states its algorithm.
    ///   - digest: the algorithm of Content-Digest.
    ///   - allowsUndigestedStreams: whether a stream that can be read only once is sent with a signature that does not
    ///     cover the body.
    public init(
        components: [SignatureComponent],
        ifPresent: [SignatureComponent] = [],
        key: MessageSigningKey,
        keyID: String?,
        label: String = "sig1",
        expires: Duration? = nil,
        tag: String? = nil,
        includesNonce: Bool = false,
        includesAlgorithm: Bool = false,
        digest: ContentDigest = .sha256,
        allowsUndigestedStreams: Bool = false
    ) {
        if let expires { precondition(expires >= .seconds(1), "expires is \(expires), not 1 second or more") }
        let all = components + ifPresent
        precondition(Set(all).count == all.count, "a component is repeated in \(all)")
        self.components = components
        optionalComponents = ifPresent
        self.key = key
        self.keyID = keyID
        self.label = label
        self.expires = expires
        self.tag = tag
        self.includesAlgorithm = includesAlgorithm
        self.digest = digest
        self.allowsUndigestedStreams = allowsUndigestedStreams
        makeNonce = includesNonce ? Self.randomNonce : nil
    }

    /// Adds a signature at the time of the context's clock.
    public func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try await sign(&request, at: context.clock.date)
    }

    func sign(_ request: inout PipelineRequest, at date: Date) async throws {
        var covered = components
        if (components + optionalComponents).contains(where: \.coversBody) {
            if let value = try await digestValue(for: request) {
                try request.setHeader(value, for: .contentDigest, isSecret: true)
            } else {
                covered.removeAll(where: \.coversBody)
            }
        }
        for component in optionalComponents where try Self.has(component, request) { covered.append(component) }
        let signature = try MessageSignature(label: label, input(covering: covered, at: date))
        let bytes = try key.sign(signature.base(of: SignedMessage(request.head)))
        try add(signature, bytes, to: &request)
    }

    /// The algorithm and the identifier of the key.
    public var description: String {
        "a signer with \(key.algorithm)\(keyID.map { " and the key \"\($0)\"" } ?? "")"
    }

    private static let randomNonce: @Sendable () -> String = {
        var random = SystemRandomNumberGenerator()
        return Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }).base64EncodedString()
    }

    private static func has(_ component: SignatureComponent, _ request: PipelineRequest) throws -> Bool {
        do {
            _ = try SignedMessage(request.head).value(of: component)
            return true
        } catch let error where error.reason == .missingComponent {
            return false
        }
    }

    /// Returns the list of components with the parameters.
    private func input(covering components: [SignatureComponent], at date: Date) -> InnerList {
        var list = BareInnerList()
        for component in components { list.append(component.item) }
        let created = Int64(date.timeIntervalSince1970.rounded(.down))
        var parameters: OrderedMap<String, RFC9651BareItem> = ["created": .integer(created)]
        if let expires { parameters["expires"] = .integer(created + expires.components.seconds) }
        if let makeNonce { parameters["nonce"] = .string(makeNonce()) }
        if includesAlgorithm { parameters["alg"] = .string(key.algorithm.name) }
        if let keyID { parameters["keyid"] = .string(keyID) }
        if let tag { parameters["tag"] = .string(tag) }
        return InnerList(bareInnerList: list, parameters: parameters)
    }

    private func add(_ signature: MessageSignature, _ bytes: Data, to request: inout PipelineRequest) throws {
        var inputs = try StructuredFields.dictionary(request.headers[.signatureInput] ?? "")
        var signatures = try StructuredFields.dictionary(request.headers[.signature] ?? "")
        inputs[label] = .innerList(signature.list)
        signatures[label] = StructuredFields.byteSequence(bytes)
        try request.setHeader(StructuredFields.text(of: inputs), for: .signatureInput, isSecret: true)
        try request.setHeader(StructuredFields.text(of: signatures), for: .signature, isSecret: true)
    }

    /// Returns the value of Content-Digest; `nil` if the body is not covered.
    private func digestValue(for request: PipelineRequest) async throws -> String? {
        let present = request.headers[.contentDigest]
        let body = request.body
        guard body.bytes != nil || body.isReplayable else {
            // Only the caller may know the content of the stream.
            if let present { return present }
            if allowsUndigestedStreams { return nil }
            throw PipelineError(
                .invalidRequest(.body),
                "the body is a stream that can be read only once, so it has no Content-Digest to sign; set the field, "
                    + "use a file or a stream that can be read again, or allow undigested streams"
            )
        }
        let members = present.flatMap { try? StructuredFields.dictionary($0) }
        var hashes = BodyHashes(members.map { BodyHashes.algorithms(of: $0).union([digest]) } ?? [digest])
        for try await piece in body.chunks() { hashes.update(piece) }
        try Task.checkCancellation()
        if let members, hashes.match(members) { return present }
        return digest.fieldValue(hashes)
    }
}
#endif
