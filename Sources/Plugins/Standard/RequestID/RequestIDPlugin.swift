public import HTTPTypes
public import PipelineCore

/// A plugin that sends an id with each call, so that you can find the call in the logs of client and server.
///
/// ```swift
/// RequestIDPlugin()
/// RequestIDPlugin { Incoming.requestID }  // on a server: the id of the request that is being answered
/// if let field = HTTPField.Name("X-Correlation-Id") { RequestIDPlugin(field: field) }
/// ```
///
/// A call can set its own id: `options: .init { $0.requestID = orderID }`. Plugins read the id in `context.requestID`.
///
/// **Effects**
///
/// - Sets the field to the id of the call: the value of the option, else that of the closure, else a random UUID
///   (version 4, lower case).
/// - If the request already has the field, leaves it unchanged and uses its value as the id.
/// - All attempts and redirects of a call have the same id; each call has a different one.
/// - The id is kept only in `context.requestID`.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `field` | `X-Request-Id` |
/// | `makeID` | a random UUID for each call |
///
/// **Position**
///
/// - Outside the plugins that read the id when they prepare a request.
/// - Inside or outside a plugin that retries: the id is the same.
/// - Outside a plugin that shares requests, no two requests are equal, unless that plugin ignores the field.
///
/// **Errors**: `invalidRequest.headerValue` if the option is empty, has more than 255 characters, or contains a
/// character other than visible ASCII. Nothing is sent, and the error does not quote the id. If the closure returns
/// such an id, which may come from outside, a random one is sent.
///
/// **Secrets**: the id is not a secret: logs show it, and it remains after a redirect to another origin. Put no
/// personal data into it.
///
/// Source: the field is not standardized; the format of the id is RFC 9562 §5.4,
/// https://www.rfc-editor.org/rfc/rfc9562.html#section-5.4
public struct RequestIDPlugin: Stage.Prepare {
    /// The name of the default field, `X-Request-Id`.
    public static let standardField: HTTPField.Name = {
        guard let name = HTTPField.Name("X-Request-Id") else { preconditionFailure("X-Request-Id is not a field name") }
        return name
    }()

    private let field: HTTPField.Name
    private let makeID: (@Sendable () -> String?)?

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - field: the name of the header field that carries the id.
    ///   - makeID: returns the id of a call, for example from a task-local value; `nil` for a random one. It runs in
    ///     the task of the call, and must be quick.
    public init(field: HTTPField.Name = standardField, makeID: (@Sendable () -> String?)? = nil) {
        self.field = field
        self.makeID = makeID
    }

    /// Sets the header field to the id of the call.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        if let present = request.headers[field] {
            context.requestID = present
            return
        }
        let id =
            try context.requestID ?? Self.checked(context.options.requestID) ?? ownID ?? Self.makeID(context.random)
        try request.setHeader(id, for: field)
        context.requestID = id
    }

    /// The id of the closure, unless it cannot be sent.
    private var ownID: String? { makeID?().flatMap { Self.canBeSent($0) ? $0 : nil } }

    private static func canBeSent(_ id: String) -> Bool {
        (1...255).contains(id.utf8.count) && id.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    private static func checked(_ id: String?) throws -> String? {
        guard let id else { return nil }
        guard canBeSent(id) else {
            throw PipelineError(
                .invalidRequest(.headerValue),
                "the requestID of \(id.utf8.count) bytes is not 1 to 255 visible ASCII characters"
            )
        }
        return id
    }

    /// Makes a version 4 UUID as in RFC 9562 §5.4, in lower case.
    static func makeID(_ random: PipelineRandom) -> String {
        var halves = (random.next().littleEndian, random.next().littleEndian)
        return withUnsafeMutableBytes(of: &halves) { bytes in
            bytes[6] = bytes[6] & 0x0f | 0x40
            bytes[8] = bytes[8] & 0x3f | 0x80
            return text(of: bytes)
        }
    }

    /// `UUID.uuidString` is upper case, and takes as long as the rest of the plugin.
    private static func text(of bytes: UnsafeMutableRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            func append(_ byte: UInt8) {
                text[end] = byte
                end += 1
            }
            for (offset, byte) in bytes.enumerated() {
                if offset == 4 || offset == 6 || offset == 8 || offset == 10 { append(UInt8(ascii: "-")) }
                append(digit(byte >> 4))
                append(digit(byte & 0x0f))
            }
            return end
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
