import Foundation
import HTTPTypes
import PipelineCore
import PipelineRecording

/// An exchange of a call, before it is redacted.
struct InspectedExchange {
    private(set) var recorded: RecordedExchange
    private var requestNote: String?
    /// Why the body of the response is not kept.
    private(set) var responseNote: String?
    private let request: PipelineRequest

    /// An exchange that has ended.
    init(
        _ exchange: PipelineExchange,
        _ result: Result<PipelineResponse, PipelineError>,
        _ context: PipelineContext,
        bodyByteCount: Int
    ) {
        self.init(exchange.request, context, bodyByteCount: bodyByteCount)
        let start = context.start.advanced(by: exchange.start)
        recorded.start = context.clock.date.addingTimeInterval(-(start.duration(to: context.clock.now) / .seconds(1)))
        recorded.duration = exchange.duration
        recorded.headDelay = exchange.duration
        recorded.timings.blocked = exchange.connectionWait
        recorded.connection = exchange.connection
        recorded.httpVersion = exchange.connection?.protocolVersion.map { "HTTP/" + $0 } ?? ""
        recorded.forwardReason = context.cacheStatus?.reason
        switch result {
        case .success(let response): set(response, bodyByteCount)
        case .failure(let error):
            recorded.failure = .init(error)
            if let response = error.response { set(response, bodyByteCount) }
        }
    }

    /// A response that a plugin returned.
    init(_ response: PipelineResponse, _ context: PipelineContext, bodyByteCount: Int) {
        self.init(response.request, context, bodyByteCount: bodyByteCount)
        set(response, bodyByteCount)
    }

    private init(_ request: PipelineRequest, _ context: PipelineContext, bodyByteCount: Int) {
        self.request = request
        let (body, note) = Self.kept(request.body, upTo: bodyByteCount)
        recorded = RecordedExchange(request: RecordedExchange.Request(request, body: body))
        requestNote = note
    }

    private mutating func set(_ response: PipelineResponse, _ bodyByteCount: Int) {
        let (body, note) = Self.kept(response.body, upTo: bodyByteCount)
        recorded.response = RecordedExchange.Response(response, body: body ?? Data())
        responseNote = note
    }

    /// Returns the bytes of a body, or why they are not kept.
    private static func kept(_ body: PipelineBody, upTo limit: Int) -> (Data?, note: String?) {
        if body.isAbsent { return (nil, nil) }
        let size = body.byteCount.map { "\($0) bytes" }
        if let bytes = body.bytes {
            if bytes.count <= limit { return (bytes, nil) }
            return (nil, "\(bytes.count) bytes, more than the \(limit) that are kept")
        }
        let kind = body.fileURL == nil ? "a stream" : "a file"
        return (nil, [kind, size].compactMap { $0 }.joined(separator: " of "))
    }

    /// Why bodies are not kept; `nil` if they are.
    var bodyNote: String? {
        let notes = [requestNote.map { "request: " + $0 }, responseNote.map { "response: " + $0 }].compactMap { $0 }
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    /// Decodes the bodies; drops those that are not decoded within the limit, because secrets in them cannot be found.
    private mutating func decodeBodies(upTo limit: Int) {
        let note = "in a content coding that is not decoded, or that has more than \(limit) bytes decoded"
        let sent = recorded.request
        recorded = CodedBody.decoded(recorded, upTo: limit)
        if let body = sent.body, !body.isEmpty, body == recorded.request.body, CodedBody.isNamed(in: sent.headers) {
            recorded.request.body = nil
            requestNote = "\(body.count) bytes \(note)"
        }
        guard let response = recorded.response, response.isCoded else { return }
        recorded.response?.body = Data()
        recorded.response?.isCoded = false
        recorded.response?.wireByteCount = nil
        responseNote = "\(response.body.count) bytes \(note)"
    }

    /// Returns the entry of the exchange, without secrets.
    mutating func entry(_ redaction: RecordingRedaction, upTo limit: Int) -> HAREntry {
        decodeBodies(upTo: limit)
        return redaction.entry(recorded, of: request)
    }
}
