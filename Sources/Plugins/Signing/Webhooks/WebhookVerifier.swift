#if Crypto || canImport(CryptoKit)
public import Foundation
public import HTTPTypes
public import PipelineCore

/// A verifier of Standard Webhooks, for servers that receive them.
///
/// ```swift
/// let verifier = WebhookVerifier(keys: [try WebhookKey(secret)])
/// let message = try verifier.verify(body, fields: request.headerFields)
/// guard await seen.insert(message.id) else { return }  // A sender may deliver a message several times.
/// ```
///
/// **Effects**
///
/// - Accepts a message if one of its signatures belongs to one of the keys. To rotate a key, keep the old and the new
///   one until the sender has changed.
/// - Ignores signatures of versions other than `v1` and `v1a`.
/// - Verifies the bytes of the body as they were received: parse them afterwards.
/// - Does not detect a message that is delivered twice: store ``Message/id``.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `tolerance` | 300 s, in the past and in the future | 0 and up |
///
/// **Errors**: ``WebhookError``.
///
/// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
public struct WebhookVerifier: Sendable, SafelyDescribed {
    /// What identifies a verified message.
    public struct Message: Sendable, Hashable {
        /// The identifier, which is the same each time the message is delivered.
        public let id: String
        /// When this delivery was signed.
        public let timestamp: Date
    }

    private let keys: [WebhookKey]
    private let tolerance: Duration

    private static let maximumSignatureCount = 16

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - keys: the keys of the sender, at least one.
    ///   - tolerance: how far the timestamp may be from the current time.
    public init(keys: [WebhookKey], tolerance: Duration = .seconds(300)) {
        precondition(!keys.isEmpty, "keys is empty, so no webhook can be verified")
        precondition(tolerance >= .zero, "tolerance is \(tolerance), less than zero")
        self.keys = keys
        self.tolerance = tolerance
    }

    /// The number of keys.
    public var description: String { "a verifier of webhooks with \(keys.count) keys" }

    /// Verifies a message.
    ///
    /// - Parameters:
    ///   - body: the body as it was received.
    ///   - fields: the header fields of the request.
    ///   - date: the current time.
    /// - Returns: what identifies the message.
    /// - Throws: ``WebhookError``.
    public func verify(
        _ body: Data,
        fields: HTTPFields,
        at date: Date = Date()
    ) throws(WebhookError) -> Message {
        let id = try Self.value(of: .webhookID, in: fields)
        let timestamp = try Self.value(of: .webhookTimestamp, in: fields)
        let signatures = try Self.value(of: .webhookSignature, in: fields).split(separator: " ")
        guard !id.contains(".") else { throw WebhookError(.malformed, "webhook-id") }
        guard timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int(timestamp) else {
            throw WebhookError(.malformed, "webhook-timestamp")
        }
        guard signatures.count <= Self.maximumSignatureCount else {
            throw WebhookError(.malformed, "webhook-signature")
        }
        let age = date.timeIntervalSince1970 - Double(seconds)
        guard age <= tolerance / .seconds(1) else { throw WebhookError(.expired) }
        guard age >= -(tolerance / .seconds(1)) else { throw WebhookError(.inFuture) }
        let message = WebhookMessage.bytes(id: id, timestamp: timestamp, body)
        for text in signatures {
            let parts = text.split(separator: ",", maxSplits: 1)
            guard parts.count == 2, let signature = Data(base64Encoded: String(parts[1])) else { continue }
            for key in keys where key.version == parts[0] && key.isValid(signature, of: message) {
                return Message(id: id, timestamp: Date(timeIntervalSince1970: Double(seconds)))
            }
        }
        throw WebhookError(.signatureMismatch)
    }

    private static func value(of name: HTTPField.Name, in fields: HTTPFields) throws(WebhookError) -> String {
        let values = fields[values: name]
        guard values.count == 1, let value = values.first, !value.isEmpty else {
            throw WebhookError(.malformed, name.canonicalName)
        }
        return value
    }
}

/// The bytes that a webhook's signature covers.
enum WebhookMessage {
    static func bytes(id: String, timestamp: String, _ body: Data) -> Data {
        var bytes = Data("\(id).\(timestamp).".utf8)
        bytes.append(body)
        return bytes
    }
}

extension HTTPField.Name {
    static let webhookID = HTTPField.Name("webhook-id") ?? .eTag
    static let webhookTimestamp = HTTPField.Name("webhook-timestamp") ?? .eTag
    static let webhookSignature = HTTPField.Name("webhook-signature") ?? .eTag
}
#endif
