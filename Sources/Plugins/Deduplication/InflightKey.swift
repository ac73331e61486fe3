import Foundation
import HTTPTypes
import Pipeline

/// What has to be equal for two requests to share an exchange: everything that is sent, byte by byte, and what decides how.
///
/// Texts are compared as bytes: two that are one to a reader, as the two forms of é, are two to a server. The order of fields of
/// different names means nothing (RFC 9110 §5.3), that of fields of one name does.
struct InflightKey: Hashable, Sendable {
    private let place: Stage.Position
    private let head: [UInt8]
    private let body: Data?
    private let secretFields: Set<HTTPField.Name>
    private let identities: [String]
    private let attemptTimeout: Duration?
    private let idleTimeout: Duration?

    /// The key of a request; `nil` when its body is a file or a stream.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - place: the position in the stack of the provider that sends it.
    ///   - ignoredFields: the names of fields that are left out, unless the request marks them as secret.
    ///   - identities: on whose behalf the call is made.
    ///   - attemptTimeout: how long the exchange may take.
    ///   - idleTimeout: how long its body may go without a byte.
    init?(
        _ request: PipelineRequest,
        at place: Stage.Position,
        ignoring ignoredFields: Set<HTTPField.Name> = [],
        identities: [String] = [],
        attemptTimeout: Duration? = nil,
        idleTimeout: Duration? = nil
    ) {
        guard let bytes = request.body.bytes else { return nil }
        self.place = place
        self.head = Self.bytes(of: request, ignoring: ignoredFields)
        self.body = request.body.isAbsent ? nil : bytes
        self.secretFields = request.secretFields
        self.identities = identities
        self.attemptTimeout = attemptTimeout
        self.idleTimeout = idleTimeout
    }

    /// Only of what differs most.
    func hash(into hasher: inout Hasher) {
        hasher.combine(head)
        hasher.combine(body)
    }

    /// Method, URL and fields in a form of which no two are alike: each part has its length before it.
    private static func bytes(of request: PipelineRequest, ignoring ignored: Set<HTTPField.Name>) -> [UInt8] {
        let head = request.head
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for text in [head.method.rawValue, head.scheme, head.authority, head.path, head.extendedConnectProtocol] {
            append(text, to: &bytes)
        }
        let fields = head.headerFields.sorted { $0.name.canonicalName < $1.name.canonicalName }
        for field in fields where !ignored.contains(field.name) || request.isSecret(field.name) {
            append(field.name.canonicalName, to: &bytes)
            field.withUnsafeBytesOfValue { value in
                append(count: value.count, to: &bytes)
                bytes.append(contentsOf: value)
            }
        }
        return bytes
    }

    private static func append(_ text: String?, to bytes: inout [UInt8]) {
        append(count: text?.utf8.count ?? -1, to: &bytes)
        if let text { bytes.append(contentsOf: text.utf8) }
    }

    private static func append(count: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: count) { bytes.append(contentsOf: $0) }
    }
}
