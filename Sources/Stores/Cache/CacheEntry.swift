public import Foundation
public import HTTPTypes
public import PipelineRedaction

/// A stored response without its body.
///
/// A response is one of up to 16 variants of its key. A variant is what an origin selects by the request fields that
/// Vary names.
public struct CacheEntry: Sendable, Hashable {
    /// What identifies the response in its store.
    public let id: UUID
    /// What the response belongs to.
    public let key: CacheKey
    /// The hash of the request fields that Vary names, at most 64 bytes of ASCII; empty if the response has no Vary.
    public var variant: String
    /// The status code; 200 for a part of a representation.
    public var statusCode: Int
    /// The header fields, without those that must not be stored.
    public var headers: HTTPFields
    /// When the request was sent.
    public var requestDate: Date
    /// When the header fields of the response arrived.
    public var responseDate: Date
    /// The position in the representation at which the stored bytes begin; 0 unless it is a part.
    public var firstByte: Int
    /// The number of stored bytes, which a store sets when writing ends.
    public var byteCount: Int
    /// The length of the whole representation; `nil` if it is unknown, and the stored bytes are a part.
    public var totalByteCount: Int?

    /// Creates an entry for a response that is about to be stored.
    ///
    /// Dates are accurate to a millisecond in every store.
    public init(
        id: UUID,
        key: CacheKey,
        variant: String = "",
        statusCode: Int,
        headers: HTTPFields,
        requestDate: Date,
        responseDate: Date,
        firstByte: Int = 0,
        byteCount: Int = 0,
        totalByteCount: Int? = nil
    ) {
        self.id = id
        self.key = key
        self.variant = variant
        self.statusCode = statusCode
        self.headers = headers
        self.requestDate = requestDate
        self.responseDate = responseDate
        self.firstByte = firstByte
        self.byteCount = byteCount
        self.totalByteCount = totalByteCount
    }

    /// Whether the whole representation is stored.
    public var isComplete: Bool { firstByte == 0 && byteCount == totalByteCount }
}

extension CacheEntry: SafelyDescribed {
    /// The status, the stored bytes, and the length of the whole.
    public var description: String {
        let total = totalByteCount.map { "\($0)" } ?? "unknown"
        return "stored response \(statusCode), \(byteCount) bytes from \(firstByte), total \(total)"
    }
}
