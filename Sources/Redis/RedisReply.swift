#if Redis
import CHiredis
public import Foundation

/// A reply of Redis.
@_spi(Stores) public enum RedisReply: Sendable {
    case null
    case integer(Int)
    case string(Data)
    case array([RedisReply])
    /// The text of an error, which may contain arguments of the command.
    case error(String)

    /// Copies a reply of hiredis.
    init(_ reply: UnsafePointer<redisReply>) {
        let value = reply.pointee
        switch value.type {
        case REDIS_REPLY_INTEGER: self = .integer(Int(clamping: value.integer))
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .string(Self.bytes(of: value))
        case REDIS_REPLY_ERROR: self = .error(String(decoding: Self.bytes(of: value), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            let elements = UnsafeBufferPointer(start: value.element, count: Int(value.elements))
            self = .array(elements.map { element in element.map { RedisReply($0) } ?? .null })
        default: self = .null
        }
    }

    private static func bytes(of reply: redisReply) -> Data {
        guard let start = reply.str else { return Data() }
        return Data(bytes: start, count: Int(reply.len))
    }

    /// The number; `nil` for another reply.
    public var integer: Int? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// The bytes; `nil` for another reply.
    public var string: Data? {
        guard case .string(let string) = self else { return nil }
        return string
    }

    /// The replies within; `nil` for another reply.
    public var array: [RedisReply]? {
        guard case .array(let array) = self else { return nil }
        return array
    }
}
#endif
