import Foundation
import HTTPTypes
import PipelineCore

/// What must be equal for two requests to share an exchange: everything that is sent, byte for byte, and what decides
/// how.
///
/// Text is compared as bytes: two strings that look the same to a reader, such as the two forms of é, differ to a
/// server. The order of fields with different names has no meaning (RFC 9110 §5.3), but the order of fields with the
/// same name has. The key holds the request and copies nothing of it.
struct InflightKey: Hashable, Sendable {
    private let place: Stage.Position
    private let request: PipelineRequest
    private let ignoredFields: [HTTPField.Name]
    let identities: [String]
    private let attemptTimeout: Duration?
    private let idleTimeout: Duration?
    private let options: [String]
    /// The hash of the parts that differ most often.
    private let hash: Int

    /// Creates the key of a request, or returns `nil` if its body is a file or a stream.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - place: the position in the stack of the provider that sends it.
    ///   - ignoredFields: the names of fields that are not compared, unless the request marks them as secret.
    ///   - identities: on whose behalf the call is made.
    ///   - attemptTimeout: how long the exchange may take.
    ///   - idleTimeout: how long its body may go without a byte.
    ///   - options: what must be equal of the options of the call.
    init?(
        _ request: PipelineRequest,
        at place: Stage.Position,
        ignoring ignoredFields: [HTTPField.Name] = [],
        identities: [String] = [],
        attemptTimeout: Duration? = nil,
        idleTimeout: Duration? = nil,
        options: [String] = []
    ) {
        guard let body = request.body.bytes else { return nil }
        self.place = place
        self.request = request
        self.ignoredFields = ignoredFields
        self.identities = identities
        self.attemptTimeout = attemptTimeout
        self.idleTimeout = idleTimeout
        self.options = options
        self.hash = Self.hash(of: request, body, ignoring: ignoredFields)
    }

    static func == (one: InflightKey, other: InflightKey) -> Bool {
        one.hash == other.hash && one.place == other.place && one.hasHead(of: other) && one.hasFields(of: other)
            && one.request.body.isAbsent == other.request.body.isAbsent
            && one.request.body.bytes == other.request.body.bytes
            && one.request.secretFields == other.request.secretFields
            && one.request.secretQueryNames == other.request.secretQueryNames && one.identities == other.identities
            && one.attemptTimeout == other.attemptTimeout && one.idleTimeout == other.idleTimeout
            && one.options == other.options
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    // MARK: The parts of a request

    private static func hash(of request: PipelineRequest, _ body: Data, ignoring names: [HTTPField.Name]) -> Int {
        let head = request.head
        var hasher = Hasher()
        hasher.combine(head.authority)
        hasher.combine(head.path)
        if !body.isEmpty { hasher.combine(body) }
        var sum = hasher.finalize()
        // A sum, because the order of fields has no meaning.
        for field in head.headerFields where isCompared(field.name, of: request, ignoring: names) {
            var hasher = Hasher()
            field.withUnsafeBytesOfValue { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            sum &+= hasher.finalize()
        }
        return sum
    }

    private static func isCompared(
        _ name: HTTPField.Name,
        of request: PipelineRequest,
        ignoring names: [HTTPField.Name]
    ) -> Bool {
        !names.contains(name) || request.isSecret(name)
    }

    private func hasHead(of other: InflightKey) -> Bool {
        let other = other.request
        return Self.areEqual(request.head.path, other.head.path)
            && Self.areEqual(request.head.authority, other.head.authority)
            && Self.areEqual(request.head.scheme, other.head.scheme) && request.method == other.method
            && Self.areEqual(request.head.extendedConnectProtocol, other.head.extendedConnectProtocol)
    }

    private static func areEqual(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    private var fields: LazyFilterSequence<HTTPFields> {
        request.headers.lazy.filter { Self.isCompared($0.name, of: request, ignoring: ignoredFields) }
    }

    private func hasFields(of other: InflightKey) -> Bool {
        if fields.elementsEqual(other.fields, by: Self.areEqual) { return true }
        return fields.sorted(by: Self.areInOrder).elementsEqual(
            other.fields.sorted(by: Self.areInOrder),
            by: Self.areEqual
        )
    }

    private static func areInOrder(_ one: HTTPField, _ other: HTTPField) -> Bool {
        one.name.canonicalName < other.name.canonicalName
    }

    private static func areEqual(_ one: HTTPField, _ other: HTTPField) -> Bool {
        guard one.name == other.name else { return false }
        return one.withUnsafeBytesOfValue { one in
            other.withUnsafeBytesOfValue { one.elementsEqual($0) }
        }
    }
}
