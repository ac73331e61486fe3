import HTTPTypes
import PipelineCore

extension RetryPlugin {
    /// A key by which a server recognizes a retry of a request that it has already received.
    ///
    /// ```swift
    /// try await provider.request(.pay(order), options: .init { $0.idempotencyKey = .generated })
    /// try await provider.request(.pay(order), options: .init { $0.idempotencyKey = .init(order.number) })
    /// ```
    ///
    /// The header field contains a string of RFC 9651, in quotes. For a server that does not accept the quotes, use
    /// ``unquoted``.
    ///
    /// Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
    public struct IdempotencyKey: Sendable, Hashable {
        private let text: String?
        private var isQuoted = true

        /// A random UUID, made for each call with the provider's random numbers.
        public static let generated = IdempotencyKey(text: nil)

        /// Makes a key from a text of at least one character, which may contain visible ASCII characters and spaces.
        public init(_ text: String) {
            self.init(text: text)
        }

        private init(text: String?) {
            self.text = text
        }

        /// The same key, sent as is, without quotes.
        public var unquoted: IdempotencyKey {
            var copy = self
            copy.isQuoted = false
            return copy
        }
    }
}

extension RetryPlugin.IdempotencyKey {
    private static let fieldName = HTTPField.Name("Idempotency-Key")

    /// Returns whether a request has a key.
    static func isPresent(in request: PipelineRequest) -> Bool {
        guard let fieldName else { return false }
        return request.headers[fields: fieldName].contains { !$0.value.isEmpty }
    }

    /// Sets the key in a request, unless the request already has one.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.headerValue`, which does not contain the key.
    func set(in request: inout PipelineRequest, _ context: PipelineContext) throws {
        guard let fieldName = Self.fieldName, !Self.isPresent(in: request) else { return }
        let key = text ?? Self.generated(for: context)
        guard !key.isEmpty, key.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            throw PipelineError(.invalidRequest(.headerValue), "the idempotency key is empty or not ASCII")
        }
        try request.setHeader(isQuoted ? Self.quoted(key) : key, for: fieldName)
    }

    /// Returns the key of a call, the same for all its attempts, also if a plugin outside repeats it.
    private static func generated(for context: PipelineContext) -> String {
        if let key = context[Generated.self] { return key }
        let made = RequestIDPlugin.makeID(context.random)
        return context.update(Generated.self) { key in
            key = key ?? made
            return key ?? made
        }
    }

    private enum Generated: PipelineContext.Key {
        static let defaultValue: String? = nil
    }

    /// Quotes a text as in RFC 9651 §3.3.3.
    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
