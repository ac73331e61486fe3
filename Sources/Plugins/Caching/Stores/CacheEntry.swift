public import Foundation
public import HTTPTypes
public import PipelineCore

/// A stored response without its body.
///
/// A key has up to 16 variants. The origin selects a variant by the request fields that Vary names, such as
/// Accept-Language.
public struct CacheEntry: Sendable, Hashable {
    /// The identifier of the entry in its store.
    public let id: UUID
    /// The key that the response is stored under.
    public let key: CacheKey
    /// The hash of the request fields that select the response, at most 64 bytes of ASCII; empty if none do.
    public var variant: String
    /// The status code; 200 for a part of a representation.
    public var statusCode: Int
    /// The header fields, without those that must not be stored.
    public var headers: HTTPFields
    /// The time at which the request was sent.
    public var requestDate: Date
    /// The time at which the header fields of the response arrived.
    public var responseDate: Date
    /// The position of the first stored byte in the representation; 0 unless the stored bytes are a later part of it.
    public var firstByte: Int
    /// The number of stored bytes, which the store sets when writing ends.
    public var byteCount: Int
    /// The length of the whole representation; `nil` if only a part is stored and the length is unknown.
    public var totalByteCount: Int?

    /// Creates an entry for a response that is about to be stored.
    ///
    /// Stores keep dates with an accuracy of a millisecond.
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
    /// The status, the position and number of the stored bytes, and the length of the representation.
    public var description: String {
        let total = totalByteCount.map { "\($0)" } ?? "unknown"
        return "stored response \(statusCode), \(byteCount) bytes from \(firstByte), total \(total)"
    }
}
