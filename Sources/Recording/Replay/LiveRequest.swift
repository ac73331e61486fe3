import Foundation
import HTTPTypes
import PipelineCore

/// A request to find in a recording, in the forms in which it is compared and shown.
struct LiveRequest: Sendable {
    private let sent: PipelineRequest
    private let decoded: RecordedExchange.Request
    private let redaction: RecordingRedaction

    /// The request with secret names and declared values hidden, as in the entries.
    let byNames: MatchedRequest

    init(_ request: PipelineRequest, body: Data?, _ rules: Playback.Rules) {
        sent = request
        decoded = CodedBody.decoded(RecordedExchange.Request(request, body: body), upTo: rules.bodyByteCount)
        redaction = rules.redaction.adding(secretQueryNames: request.secretQueryNames)
        byNames = MatchedRequest(redaction.request(decoded, secretFields: request.secretFields))
    }

    /// The request with the values of its own secrets hidden everywhere, as in a recorder; `nil` if it has none.
    var byValues: MatchedRequest? {
        let secrets = redaction.secrets(of: sent).replaced
        guard !secrets.isEmpty else { return nil }
        return MatchedRequest(
            redaction.adding(secretValues: secrets).request(decoded, secretFields: sent.secretFields)
        )
    }

    /// Returns the redaction that hides the secrets of this request, and of recorded ones, in displayed text.
    func hiding(_ recorded: [RecordedExchange.Request] = []) -> RecordingRedaction {
        redaction.hidingAll(of: [sent] + recorded.map { PipelineRequest($0) })
    }

    /// Returns the request as it is displayed.
    func shown(_ redaction: RecordingRedaction) -> MatchedRequest {
        MatchedRequest(redaction.request(decoded, secretFields: sent.secretFields))
    }
}

extension PipelineRequest {
    /// Creates a request with the fields, the URL and the body of a recorded request, to find the secrets in them.
    init(_ request: RecordedExchange.Request) {
        let url = request.url.prefix { $0 != "#" }
        let query = url.firstIndex(of: "?").map { String(url[$0...]) } ?? ""
        var headers = request.headers
        if let type = request.bodyType { headers[.contentType] = type }
        self.init(
            head: HTTPRequest(
                method: .get,
                scheme: "https",
                authority: URLParts(request.url).host,
                path: "/" + query,
                headerFields: headers
            ),
            body: request.body.map(PipelineBody.bytes) ?? .absent
        )
    }
}
