#if Crypto || canImport(CryptoKit)
import Foundation
import HTTPTypes
public import PipelineCore

/// A signer for AWS and services that are compatible with it: Signature Version 4, for `SigningPlugin`.
///
/// ```swift
/// let signer = AWSSigner(region: "eu-central-1", service: "s3") { _ in try await vault.credentials() }
/// let provider = Provider<Bucket>(transport: transport, plugins: [RetryPlugin(), SigningPlugin(signer)])
/// ```
///
/// **Effects**
///
/// - In header fields, sets Authorization, X-Amz-Date, X-Amz-Security-Token for temporary credentials, and
///   X-Amz-Content-Sha256 for S3 and for a body that is not signed. In the query, sets the items X-Amz-Algorithm to
///   X-Amz-Signature instead, and replaces those of an earlier signature, which a redirect may repeat.
/// - Covers the method, the host, the path, the query, the body, and all header fields except those that transports,
///   proxies and traces set, such as User-Agent and Accept-Encoding.
/// - Sends the host in lower case and without the default port, as it is signed.
/// - Reads the body to hash it. A file, or a stream that can be read again, is read twice for this.
/// - For S3, signs a stream that can be read only once in chunks of 64 KiB while it is sent, if its length is known. It
///   then sets Content-Encoding and X-Amz-Decoded-Content-Length.
/// - For S3, the signature covers the path percent-encoded once, also where reserved characters are sent as they are.
///   For other services, it covers the path normalized and encoded a second time. The path that is sent remains
///   unchanged.
/// - Runs the closure for each request, so it should keep what it has fetched.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `placement` | ``Placement/header`` | |
/// | `signsBody` | `true`; `false` states `UNSIGNED-PAYLOAD`, which few services but S3 accept | |
///
/// A signature in the query for S3 never covers the body.
///
/// **Errors**: `invalidRequest.body` for a body that must be signed but is a stream that can be read only once, unless
/// it is for S3 and has a known length; the errors of the closure. Nothing is sent.
///
/// **Secrets**: marks the fields that it sets as secret. Redactors hide the values of the query items by their names.
///
/// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
public struct AWSSigner: RequestSigner, SafelyDescribed {
    /// Where a signature is placed.
    public struct Placement: Sendable, Hashable {
        /// How long a signature in the query is valid; `nil` for header fields.
        let expires: Duration?

        /// The header fields; AWS accepts such a signature for 5 minutes.
        public static let header = Self(expires: nil)

        /// The query, for URLs that others open.
        ///
        /// - Parameter expires: how long the signature is valid, from 1 s to 7 days, in whole seconds.
        /// - Returns: the placement.
        public static func query(expires: Duration) -> Self {
            precondition(
                (.seconds(1) ... .seconds(604_800)).contains(expires) && expires.components.attoseconds == 0,
                "expires is \(expires), not from 1 second to 7 days in whole seconds"
            )
            return Self(expires: expires)
        }
    }

    private let region: String
    private let service: String
    private let placement: Placement
    private let signsBody: Bool
    private let credentials: @Sendable (PipelineContext) async throws -> AWSCredentials
    private let isS3: Bool
    private let lastKey = AWSLastKey()

    // The service determines both, except in AWS's test suite.
    var pathForm: AWSCanonicalRequest.PathForm
    var statesPayloadHash: Bool

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - region: the region, such as `eu-central-1`.
    ///   - service: the name of the service in signatures, such as `s3`, `execute-api` or `dynamodb`.
    ///   - placement: where the signature is placed.
    ///   - signsBody: whether the signature covers the body.
    ///   - credentials: returns the credentials for a request. It may suspend and throw.
    public init(
        region: String,
        service: String,
        placement: Placement = .header,
        signsBody: Bool = true,
        credentials: @escaping @Sendable (_ context: PipelineContext) async throws -> AWSCredentials
    ) {
        self.region = region
        self.service = service
        self.placement = placement
        self.signsBody = signsBody
        self.credentials = credentials
        isS3 = service == "s3" || service.hasPrefix("s3-") || service == "s3express"
        pathForm = isS3 ? .encodedOnce : .normalized
        statesPayloadHash = isS3
    }

    /// The service and the region.
    public var description: String { "a signer for \(service) in \(region)" }

    /// Adds a signature for the current time.
    public func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try await sign(&request, with: credentials(context), at: context.clock.date)
    }

    func sign(_ request: inout PipelineRequest, with credentials: AWSCredentials, at date: Date) async throws {
        // The host is sent as it is signed, because a server does not change its letters.
        request.head.authority = request.origin.authority
        let key = AWSSigningKey(credentials, region: region, service: service, at: date, last: lastKey)
        let payload = try await payload(of: request)
        if let expires = placement.expires {
            try signQuery(of: &request, expires, credentials, key, payload)
        } else {
            try signFields(of: &request, credentials, key, payload)
        }
    }

    // MARK: Placements

    private func signFields(
        of request: inout PipelineRequest,
        _ credentials: AWSCredentials,
        _ key: AWSSigningKey,
        _ payload: Payload
    ) throws {
        try request.setHeader(key.time, for: .amzDate, isSecret: true)
        // Without the field, a server hashes the body itself.
        if !payload.isHash || statesPayloadHash {
            try request.setHeader(payload.hash, for: .amzContentHash, isSecret: true)
        }
        if let token = credentials.sessionToken {
            try request.setHeader(token, for: .amzSecurityToken, isSecret: true)
        }
        if case .chunked(let byteCount) = payload { try announceChunks(of: &request, byteCount) }
        let canonical = canonical(request, [], payload)
        let signature = key.signature(of: key.textToSign(canonical))
        let value = """
            AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(key.scope), \
            SignedHeaders=\(canonical.signedNames), Signature=\(signature)
            """
        try request.setHeader(value, for: .authorization, isSecret: true)
        if case .chunked(let byteCount) = payload {
            let chunks = AWSChunks(body: request.body, key: key, seed: signature)
            request.body = .stream(chunks, byteCount: AWSChunks.encodedByteCount(of: byteCount))
        }
    }

    private func announceChunks(of request: inout PipelineRequest, _ byteCount: Int) throws {
        let coding = request.headers[.contentEncoding].map { "aws-chunked,\($0)" } ?? "aws-chunked"
        try request.setHeader(coding, for: .contentEncoding)
        try request.setHeader(String(byteCount), for: .amzDecodedContentLength)
        // The transport sets the length of the encoded body.
        request.head.headerFields[.contentLength] = nil
    }

    private func signQuery(
        of request: inout PipelineRequest,
        _ expires: Duration,
        _ credentials: AWSCredentials,
        _ key: AWSSigningKey,
        _ payload: Payload
    ) throws {
        request.head.path = AWSCanonicalRequest.withoutSignature(request.head.path ?? "/")
        var items = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(credentials.accessKeyID)/\(key.scope)"),
            ("X-Amz-Date", key.time), ("X-Amz-Expires", "\(expires.components.seconds)"),
        ]
        if let token = credentials.sessionToken { items.append(("X-Amz-Security-Token", token)) }
        items.append(("X-Amz-SignedHeaders", canonical(request, [], payload).signedNames))
        let canonical = canonical(request, items, payload)
        let signature = key.signature(of: key.textToSign(canonical))
        items.append(("X-Amz-Signature", signature))
        let added = items.map { "\(AWSCanonicalRequest.encoded($0.0))=\(AWSCanonicalRequest.encoded($0.1))" }
        var path = request.head.path ?? "/"
        path += path.contains("?") ? (path.hasSuffix("?") ? "" : "&") : "?"
        request.head.path = path + added.joined(separator: "&")
    }

    private func canonical(
        _ request: PipelineRequest,
        _ query: [(String, String)],
        _ payload: Payload
    ) -> AWSCanonicalRequest {
        AWSCanonicalRequest(request, query: query, path: pathForm, payloadHash: payload.hash)
    }

    // MARK: Payload

    /// What a signature covers of the body.
    private enum Payload {
        case hash(String)
        case unsigned
        /// With the length of the body.
        case chunked(Int)

        var isHash: Bool {
            if case .hash = self { true } else { false }
        }

        var hash: String {
            switch self {
            case .hash(let hash): hash
            case .unsigned: "UNSIGNED-PAYLOAD"
            case .chunked: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
            }
        }
    }

    private func payload(of request: PipelineRequest) async throws -> Payload {
        guard signsBody, !(isS3 && placement.expires != nil) else { return .unsigned }
        let body = request.body
        if let bytes = body.bytes { return .hash(AWSSigningKey.hash(bytes)) }
        if body.isReplayable { return .hash(try await AWSSigningKey.hash(body.chunks())) }
        if isS3, let byteCount = body.byteCount { return .chunked(byteCount) }
        throw PipelineError(
            .invalidRequest(.body),
            """
            the body is a stream that can be read only once\(isS3 ? " and has no known length" : ""), so the signature \
            cannot cover it; use a file or a stream that can be read again, or do not sign the body
            """
        )
    }
}

extension HTTPField.Name {
    fileprivate static let amzDate = HTTPField.Name("X-Amz-Date") ?? .eTag
    fileprivate static let amzContentHash = HTTPField.Name("X-Amz-Content-Sha256") ?? .eTag
    fileprivate static let amzSecurityToken = HTTPField.Name("X-Amz-Security-Token") ?? .eTag
    fileprivate static let amzDecodedContentLength = HTTPField.Name("X-Amz-Decoded-Content-Length") ?? .eTag
}
#endif
