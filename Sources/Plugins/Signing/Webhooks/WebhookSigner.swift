#if Crypto || canImport(CryptoKit)
import Foundation
import HTTPTypes
public import PipelineCore

/// A signer for servers that send Standard Webhooks, for `SigningPlugin`.
///
/// ```swift
/// let signer = WebhookSigner(keys: [try WebhookKey(secret)])
/// let provider = Provider<Hooks>(transport: transport, plugins: [RetryPlugin(), SigningPlugin(signer)])
/// ```
///
/// **Effects**
///
/// - Sets webhook-id, webhook-timestamp and webhook-signature, with one signature for each key. While a receiver
///   changes its key, sign with the old and the new one.
/// - Keeps the webhook-id of the request. If there is none, the call gets a random one, the same for all attempts, so
///   that a receiver can ignore what it has seen.
/// - Takes a new timestamp for each attempt.
/// - Reads the whole body into memory.
///
/// **Errors**: `invalidRequest.body` for a stream that can be read only once; `limit.bodyBytes` for a body of more than
/// `ProviderConfiguration.Limits.bufferedBodyByteCount`; ``WebhookError`` with reason `malformed` for a webhook-id with
/// a full stop.
///
/// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
public struct WebhookSigner: RequestSigner, SafelyDescribed {
    /// `true`: the signer has one key.
    public var hasOneKey: Bool { true }

    private let keys: [WebhookKey]

    /// Makes a signer.
    ///
    /// - Parameter keys: keys that can sign, at least one.
    public init(keys: [WebhookKey]) {
        precondition(!keys.isEmpty, "keys is empty, so no webhook can be signed")
        precondition(keys.allSatisfy(\.canSign), "a public key cannot sign webhooks")
        self.keys = keys
    }

    /// The number of keys.
    public var description: String { "a signer of webhooks with \(keys.count) keys" }

    /// Sets the three fields of the request.
    public func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        let id = request.headers[.webhookID] ?? context.webhookID
        guard !id.isEmpty, !id.contains(".") else { throw WebhookError(.malformed, "webhook-id") }
        let timestamp = String(Int(context.clock.date.timeIntervalSince1970.rounded(.down)))
        let body = try await Self.body(of: request, context)
        let message = WebhookMessage.bytes(id: id, timestamp: timestamp, body)
        let signatures = try keys.compactMap { key in
            try key.signature(of: message).map { "\(key.version),\($0.base64EncodedString())" }
        }
        try request.setHeader(id, for: .webhookID)
        try request.setHeader(timestamp, for: .webhookTimestamp)
        try request.setHeader(signatures.joined(separator: " "), for: .webhookSignature, isSecret: true)
    }

    private static func body(of request: PipelineRequest, _ context: PipelineContext) async throws -> Data {
        if let bytes = request.body.bytes { return bytes }
        if request.body.isAbsent { return Data() }
        guard request.body.isReplayable else {
            throw PipelineError(
                .invalidRequest(.body),
                "the body of a webhook is signed as a whole, but it is a stream that can be read only once"
            )
        }
        return try await request.body.collect(upTo: context.limits.bufferedBodyByteCount)
    }
}

extension PipelineContext {
    /// The identifier of the webhook that the call sends.
    fileprivate var webhookID: String {
        update(WebhookID.self) { id in
            if id.isEmpty {
                var random = SystemRandomNumberGenerator()
                let number = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &random), radix: 36) }
                id = "msg_" + number.joined()
            }
            return id
        }
    }
}

private enum WebhookID: PipelineContext.Key {
    static let defaultValue = ""
}
#endif
