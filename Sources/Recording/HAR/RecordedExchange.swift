package import Foundation
package import HTTPTypes

/// One request and what came of it, as it is recorded and replayed: what a HAR entry says, without how it says it.
package struct RecordedExchange: Sendable, Equatable {
    /// What was sent.
    package struct Request: Sendable, Equatable {
        package var method: String
        /// Absolute, without a fragment.
        package var url: String
        package var headers: HTTPFields
        /// `nil` when there was none; zero bytes are one.
        package var body: Data?

        package init(method: String, url: String, headers: HTTPFields = [:], body: Data? = nil) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }
    }

    /// What was answered.
    package struct Response: Sendable, Equatable {
        package var status: Int
        /// Such as `Not Found`; empty with HTTP/2.
        package var reasonPhrase: String
        /// As they arrived, a content coding that was undone included.
        package var headers: HTTPFields
        /// Decoded; what had arrived when the exchange failed within the body.
        package var body: Data
        /// Whether the body is still in its content coding, as some files have it.
        package var isCoded: Bool
        /// How many bytes of the body came over the wire, `nil` when unknown.
        package var wireByteCount: Int?
        /// How the body arrived; empty when unknown, and else of as many bytes as the body.
        package var chunks: [Chunk]
        /// The fields after the body.
        package var trailers: HTTPFields

        package init(
            status: Int,
            reasonPhrase: String = "",
            headers: HTTPFields = [:],
            body: Data = Data(),
            isCoded: Bool = false,
            wireByteCount: Int? = nil,
            chunks: [Chunk] = [],
            trailers: HTTPFields = [:]
        ) {
            self.status = status
            self.reasonPhrase = reasonPhrase
            self.headers = headers
            self.body = body
            self.isCoded = isCoded
            self.wireByteCount = wireByteCount
            self.chunks = chunks
            self.trailers = trailers
        }
    }

    /// A piece of a body.
    package struct Chunk: Sendable, Equatable {
        package var byteCount: Int
        /// When it arrived, from the header fields on.
        package var delay: Duration

        package init(byteCount: Int, delay: Duration) {
            self.byteCount = byteCount
            self.delay = delay
        }
    }

    /// Why there is no answer, or no whole one.
    package struct Failure: Sendable, Equatable {
        /// The text of a ``PipelineError/Code-swift.struct``, such as `timeout.idle`.
        package var code: String
        package var text: String

        package init(code: String, text: String) {
            self.code = code
            self.text = text
        }
    }

    package var request: Request
    /// `nil` when the exchange failed before there were header fields.
    package var response: Response?
    /// `nil` when the answer is whole.
    package var failure: Failure?
    /// When the request was sent.
    package var start: Date?
    /// From the request to the header fields.
    package var headDelay: Duration
    /// From the request to the end.
    package var duration: Duration
    /// Such as `HTTP/1.1`; empty when unknown.
    package var httpVersion: String

    package init(
        request: Request,
        response: Response? = nil,
        failure: Failure? = nil,
        start: Date? = nil,
        headDelay: Duration = .zero,
        duration: Duration = .zero,
        httpVersion: String = ""
    ) {
        self.request = request
        self.response = response
        self.failure = failure
        self.start = start
        self.headDelay = headDelay
        self.duration = duration
        self.httpVersion = httpVersion
    }
}
