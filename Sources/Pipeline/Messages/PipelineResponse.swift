public import Foundation
public import HTTPTypes

/// What came back, with the request as it was sent; cheap to copy.
///
/// Its description shows the status, the length of the body and the request's description; never header values or body.
public struct PipelineResponse: Sendable {
    private struct Content: Sendable {
        var request: PipelineRequest
        var head: HTTPResponse
        var body: PipelineBody
        var exchanges: [PipelineExchange]
        var emptyBodyReason: String?
        var source: Source?
        var hopToken: HopToken?
        var exchangeID: PipelineContext.ExchangeID?
        var coders: PipelineCoders.Shared?
        weak var openExchange: OpenExchange?
    }

    private var content: CopyOnWrite<Content>

    /// Makes a response; transports and plugins that answer by themselves do.
    ///
    /// - Parameters:
    ///   - request: the request that it answers.
    ///   - head: status and header fields.
    ///   - body: the body.
    public init(request: PipelineRequest, head: HTTPResponse, body: PipelineBody = .absent) {
        content = CopyOnWrite(Content(request: request, head: head, body: body, exchanges: []))
    }

    /// Makes a response from its parts.
    public init(request: PipelineRequest, statusCode: Int, headers: HTTPFields = [:], data: Data = Data()) {
        self.init(
            request: request,
            head: HTTPResponse(status: .init(code: statusCode), headerFields: headers),
            body: .bytes(data)
        )
    }

    /// The request as it was sent.
    public var request: PipelineRequest {
        get { content.value.request }
        set { content.value.request = newValue }
    }

    /// Status and header fields.
    public var head: HTTPResponse {
        get { content.value.head }
        _modify { yield &content.value.head }
    }

    /// The body: bytes for a call made with `request`, a stream for one made with `stream`, the file of a download.
    public var body: PipelineBody {
        get { content.value.body }
        set { content.value.body = newValue }
    }

    /// The exchanges of the whole call so far, retries and redirects included, in the order in which they ended; in a
    /// stack with exchange plugins, in the order in which their header fields came.
    public internal(set) var exchanges: [PipelineExchange] {
        get { content.value.exchanges }
        _modify { yield &content.value.exchanges }
    }

    /// Where the response came from; `nil` until it has passed the pipeline.
    ///
    /// A plugin sets it on a response of its own. Otherwise the core sets ``Source/network``, or the name of the exchange plugin that made the
    /// response.
    public var source: Source? {
        get { content.value.source }
        set { content.value.source = newValue }
    }

    /// The hop in which the wire returned the response; `nil` without exchange plugins.
    var hopToken: HopToken? {
        get { content.value.hopToken }
        set { content.value.hopToken = newValue }
    }

    /// The exchange that returned the response, in the hop of ``hopToken``.
    var exchangeID: PipelineContext.ExchangeID? {
        get { content.value.exchangeID }
        set { content.value.exchangeID = newValue }
    }

    /// The exchange whose body this is, until the hop has ended.
    var openExchange: OpenExchange? {
        get { content.value.openExchange }
        set { content.value.openExchange = newValue }
    }

    /// The coders of the provider that returned the response; `nil` for those of Foundation.
    var coders: PipelineCoders.Shared? {
        get { content.value.coders }
        set { content.value.coders = newValue }
    }

    /// Why a body that was made up is empty, for the error of a mapping that needs one.
    package var emptyBodyReason: String? {
        get { content.value.emptyBodyReason }
        set { content.value.emptyBodyReason = newValue }
    }

    /// The status.
    public var statusCode: Int { head.status.code }

    /// The header fields, in order, repeats kept as far as the transport keeps them.
    public var headers: HTTPFields {
        get { head.headerFields }
        _modify { yield &content.value.head.headerFields }
    }

    /// Returns the value of a header field, several of that name joined by `, `; `nil` if there is none.
    public func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// The bytes of the body; none while the body is a stream or a file.
    public var data: Data { body.bytes ?? Data() }
}

extension PipelineResponse: SafelyDescribed {
    /// Status, length of the body, and the request.
    public var description: String {
        "\(statusCode), \(body), for \(request)"
    }
}
