public import HTTPTypes
public import Pipeline

/// Sends an id with each call, by which it can be found in the logs of both sides.
///
/// ```swift
/// RequestIDPlugin()
/// if let field = HTTPField.Name("X-Correlation-Id") { RequestIDPlugin(field: field) }
/// ```
///
/// One call sets its own: `options: .init { $0.requestID = orderID }`. Plugins read it in `context.requestID`.
///
/// **Position**: outside the plugins that read the id in their prepare. Inside or outside of a plugin that sends again the id is the
/// same; outside one that shares requests no two of them are equal, unless it leaves the field out of account.
///
/// **Effects**: sets the field to the id of the call: that of the option, else a random UUID (version 4, small letters). A field of
/// that name that is there already is not touched, and its value is the id. The id stays the same for all attempts and redirects of a
/// call, and is another for each call. It is kept with the call as `context.requestID`, and nowhere else.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `field` | `X-Request-Id` |
///
/// **Errors**: `invalidRequest.headerValue` for an id of the option that is empty, has more than 255 characters, or has one that is
/// no visible ASCII character; nothing is sent then. The error does not quote it.
///
/// **Secrets**: the id is none: it is shown in logs, and stays when a redirect leaves the origin. Put no personal data into it.
///
/// Source: the field is no standard; the form of the id is RFC 9562 §5.4, https://www.rfc-editor.org/rfc/rfc9562.html#section-5.4
public struct RequestIDPlugin: Stage.Prepare {
    /// X-Request-Id.
    public static let standardField: HTTPField.Name = {
        guard let name = HTTPField.Name("X-Request-Id") else { preconditionFailure("X-Request-Id is not a field name") }
        return name
    }()

    private let field: HTTPField.Name

    /// Makes a plugin.
    ///
    /// - Parameter field: the name of the field.
    public init(field: HTTPField.Name = standardField) {
        self.field = field
    }

    /// Sets the field.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        if let present = request.headers[field] {
            context.requestID = present
            return
        }
        let id = try context.requestID ?? Self.checked(context.options.requestID) ?? Self.makeID(context.random)
        try request.setHeader(id, for: field)
        context.requestID = id
    }

    private static func checked(_ id: String?) throws -> String? {
        guard let id else { return nil }
        guard (1...255).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw PipelineError(
                .invalidRequest(.headerValue),
                "the requestID of \(id.utf8.count) bytes is not 1 to 255 visible ASCII characters"
            )
        }
        return id
    }

    private static func makeID(_ random: PipelineRandom) -> String {
        var halves = (random.next().littleEndian, random.next().littleEndian)
        return withUnsafeMutableBytes(of: &halves) { bytes in
            bytes[6] = bytes[6] & 0x0f | 0x40
            bytes[8] = bytes[8] & 0x3f | 0x80
            return text(of: bytes)
        }
    }

    /// UUID's own text is upper case, and takes as long to make as all else that the plugin does.
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
