package import Foundation
package import HTTPTypes
package import PipelineCore

/// One request and its outcome, as it is recorded and replayed: the content of a HAR entry, independent of its
/// notation.
package struct RecordedExchange: Sendable, Equatable {
    /// The request that was sent.
    package struct Request: Sendable, Equatable {
        package var method: String
        /// Absolute, without a fragment.
        var url: String
        package var headers: HTTPFields = [:]
        /// `nil` if there was none.
        ///
        /// An empty body counts as a body.
        package var body: Data?
        /// The type that a file names for the body beside the fields; `nil` if the fields name it.
        var bodyType: String?
        /// Whether the body was restored from the parameters of a multipart form, without the heads of its parts.
        var isFromParameters = false

        /// The type of the body.
        var contentType: String? { bodyType ?? headers[.contentType] }
    }

    /// The response.
    package struct Response: Sendable, Equatable {
        package var status: Int
        /// For example `Not Found`; empty with HTTP/2.
        var reasonPhrase = ""
        /// The fields as they arrived, including the name of a content coding that has been removed.
        package var headers: HTTPFields = [:]
        /// The decoded body.
        ///
        /// If the exchange failed within the body, the bytes that had arrived.
        package var body = Data()
        /// Whether the body is still in its content coding, as in some files.
        package var isCoded = false
        /// The size of the body on the wire; `nil` if unknown.
        package var wireByteCount: Int?
        /// The chunks in which the body arrived.
        ///
        /// Empty if unknown; otherwise the sizes add up to that of the body.
        var chunks: [Chunk] = []
        /// The trailer fields after the body.
        var trailers: HTTPFields = [:]
    }

    /// A piece of a body.
    struct Chunk: Sendable, Equatable {
        var byteCount: Int
        /// The time from the header fields to the arrival of the chunk.
        var delay: Duration
    }

    /// Why the response is missing or incomplete.
    package struct Failure: Sendable, Equatable {
        /// The text of a ``/Pipeline/PipelineError/Code-swift.struct``, such as `timeout.idle`.
        var code: String
        var text: String
    }

    package var request: Request
    /// `nil` if the exchange failed before the header fields arrived.
    package var response: Response?
    /// `nil` if the response is complete.
    package var failure: Failure?
    /// When the request was sent.
    package var start: Date?
    /// The time from the request to the header fields.
    package var headDelay = Duration.zero
    /// The time from the request to the end of the exchange.
    package var duration = Duration.zero
    /// For example `HTTP/1.1`; empty if unknown.
    package var httpVersion = ""
    /// Why a cache sent the request, such as `uri-miss`; `nil` without a cache.
    package var forwardReason: String?
    /// How the time to the header fields was spent; not read from a file.
    package var timings = RecordedTimings()
    /// The connection; not read from a file.
    package var connection: PipelineExchange.Connection?
    /// The call; `nil` without a timeline, and not read from a file.
    var call: JSONNode?
}

extension RecordedExchange {
    package init(request: Request) { self.init(request: request, response: nil) }
}

extension RecordedExchange.Response {
    package init(_ response: PipelineResponse, body: Data) {
        self.init(
            status: response.statusCode,
            reasonPhrase: response.head.status.reasonPhrase,
            headers: response.headers,
            body: body
        )
    }
}

extension RecordedExchange.Failure {
    package init(_ error: PipelineError) { self.init(code: error.code.rawValue, text: error.reason) }
}
