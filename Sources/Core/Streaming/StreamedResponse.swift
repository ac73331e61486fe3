public import HTTPTypes

/// A response whose body is still arriving.
public struct StreamedResponse: Sendable {
    /// The response; its ``PipelineResponse/body`` is the stream.
    public let response: PipelineResponse

    init(_ response: PipelineResponse) {
        self.response = response
    }

    /// The status code, such as 200.
    public var statusCode: Int { response.statusCode }

    /// The header fields of the response.
    public var headers: HTTPFields { response.headers }

    /// The body in pieces, which can be read once.
    ///
    /// If you stop reading and drop the body, the exchange is closed. At the top level of `main.swift`, read it in a
    /// function, because Swift keeps it there until the program ends.
    public var body: PipelineBody.Chunks { response.body.chunks() }
}
