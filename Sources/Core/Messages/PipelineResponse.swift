public import Foundation
public import HTTPTypes

/// A response, with the request as it was sent; cheap to copy.
///
/// The description shows the status, the length of the body and the request's description, never header values or the
/// body.
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
        var coders: ProviderConfiguration.Coders.Shared?
        var timeline: Timeline?
        var redirectDecision: RedirectDecision?
        weak var openExchange: OpenExchange?
    }

    private var content: CopyOnWrite<Content>

    /// Makes a response, for transports and for plugins that return a response of their own.
    ///
    /// - Parameters:
    ///   - request: the request that the response belongs to.
    ///   - head: the status and the header fields.
    ///   - body: the body of the response.
    public init(request: PipelineRequest, head: HTTPResponse, body: PipelineBody = .absent) {
        content = CopyOnWrite(Content(request: request, head: head, body: body, exchanges: []))
    }

    /// Makes a response from a status code, header fields and bytes.
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

    /// The status and the header fields.
    public var head: HTTPResponse {
        get { content.value.head }
        _modify { yield &content.value.head }
    }

    /// The body: bytes for a call made with `request`, a stream for one made with `stream`, a file for a download.
    public var body: PipelineBody {
        get { content.value.body }
        set { content.value.body = newValue }
    }

    /// The exchanges of the whole call so far, including retries and redirects, in the order in which their header
    /// fields arrived or they failed.
    public internal(set) var exchanges: [PipelineExchange] {
        get { content.value.exchanges }
        _modify { yield &content.value.exchanges }
    }

    /// What the call spent its time on; `nil` unless ``ProviderConfiguration/timeline`` is `true`.
    public internal(set) var timeline: Timeline? {
        get { content.value.timeline }
        set { content.value.timeline = newValue }
    }

    /// Where the response came from; `nil` until it has passed through the pipeline.
    ///
    /// A plugin sets it on a response of its own. Otherwise the core sets ``Source/network``, or the name of the
    /// exchange plugin that made the response.
    public var source: Source? {
        get { content.value.source }
        set { content.value.source = newValue }
    }

    /// The hop in which the wire returned the response; `nil` without exchange plugins.
    var hopToken: HopToken? {
        get { content.value.hopToken }
        set { content.value.hopToken = newValue }
    }

    /// The exchange that returned the response, within the hop of ``hopToken``.
    var exchangeID: PipelineContext.ExchangeID? {
        get { content.value.exchangeID }
        set { content.value.exchangeID = newValue }
    }

    /// What the policy has decided about this redirect when its head arrived.
    var redirectDecision: RedirectDecision? {
        get { content.value.redirectDecision }
        set { content.value.redirectDecision = newValue }
    }

    /// The exchange that the body belongs to, until the hop has ended; `nil` without exchange plugins.
    var openExchange: OpenExchange? {
        get { content.value.openExchange }
        set { content.value.openExchange = newValue }
    }

    /// The coders of the provider that returned the response; `nil` for the default ones.
    var coders: ProviderConfiguration.Coders.Shared? {
        get { content.value.coders }
        set { content.value.coders = newValue }
    }

    /// Why a substituted body is empty, for the error of a mapping that needs a body.
    package var emptyBodyReason: String? {
        get { content.value.emptyBodyReason }
        set { content.value.emptyBodyReason = newValue }
    }

    /// The status code, such as 200.
    public var statusCode: Int { head.status.code }

    /// The header fields in order, including repeated ones as far as the transport keeps them.
    public var headers: HTTPFields {
        get { head.headerFields }
        _modify { yield &content.value.head.headerFields }
    }

    /// Returns the value of a header field, with repeated values joined by `, `; `nil` if there is none.
    public func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// The bytes of the body; empty if the body is a stream or a file.
    public var data: Data { body.bytes ?? Data() }
}

extension PipelineResponse: SafelyDescribed {
    /// The status, the length of the body, and the request.
    public var description: String {
        "\(statusCode), \(body), for \(request)"
    }
}
