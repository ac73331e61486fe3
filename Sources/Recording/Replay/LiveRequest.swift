import Foundation
import HTTPTypes
import Pipeline

/// A request that is looked for in a recording, in the forms in which it is compared and shown.
struct LiveRequest: Sendable {
    private let sent: PipelineRequest
    private let decoded: RecordedExchange.Request
    private let redaction: RecordingRedaction

    /// What names and declared values hide is hidden, as in the entries.
    let byNames: MatchedRequest

    init(_ request: PipelineRequest, body: Data?, _ rules: Playback.Rules) {
        sent = request
        decoded = CodedBody.decoded(RecordedExchange.Request(request, body: body), upTo: rules.bodyByteCount)
        redaction = rules.redaction
        byNames = MatchedRequest(redaction.request(decoded, secretFields: request.secretFields))
    }

    /// The values of its own secrets are hidden wherever they are, as a recorder does; `nil` if it has none.
    var byValues: MatchedRequest? {
        let secrets = redaction.secrets(of: sent).replaced
        guard !secrets.isEmpty else { return nil }
        return MatchedRequest(
            redaction.adding(secretValues: secrets).request(decoded, secretFields: sent.secretFields)
        )
    }

    /// What hides its secrets in a text for people, and those of a recorded request.
    func hiding(_ recorded: [RecordedExchange.Request] = []) -> RecordingRedaction {
        redaction.hidingAll(of: [sent] + recorded.map { PipelineRequest($0) })
    }

    /// The request as it is shown to people.
    func shown(_ redaction: RecordingRedaction) -> MatchedRequest {
        MatchedRequest(redaction.request(decoded, secretFields: sent.secretFields))
    }
}

extension PipelineRequest {
    /// The fields and the URL of a recorded request, for a look at the secrets in them.
    init(_ request: RecordedExchange.Request) {
        let url = request.url.prefix { $0 != "#" }
        let query = url.firstIndex(of: "?").map { String(url[$0...]) } ?? ""
        self.init(
            head: HTTPRequest(
                method: .get,
                scheme: "https",
                authority: URLParts(request.url).host,
                path: "/" + query,
                headerFields: request.headers
            )
        )
    }
}
