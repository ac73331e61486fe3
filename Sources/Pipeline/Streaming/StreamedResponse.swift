public import HTTPTypes

/// A response whose body is still on its way.
public struct StreamedResponse: Sendable {
    /// The response; its ``PipelineResponse/body`` is the stream.
    public let response: PipelineResponse

    init(_ response: PipelineResponse) {
        self.response = response
    }

    /// The status.
    public var statusCode: Int { response.statusCode }

    /// The header fields.
    public var headers: HTTPFields { response.headers }

    /// The body in pieces, which can be read once.
    ///
    /// Stop reading and drop it, and the exchange is closed. At the top level of `main.swift`, Swift keeps it until the program ends: read it
    /// in a function.
    public var body: PipelineBody.Chunks { response.body.chunks() }
}
