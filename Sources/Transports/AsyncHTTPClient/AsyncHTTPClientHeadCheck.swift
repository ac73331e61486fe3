#if AsyncHTTPClient
import NIOHTTP1
import Pipeline

/// Finds the heads that AsyncHTTPClient must not see: it passes over a status below 200 and takes what follows for a broken promise of
/// the parser.
struct AsyncHTTPClientHeadCheck {
    private let informationalLimit: Int
    private var informationalCount = 0

    init(informationalLimit: Int) { self.informationalLimit = informationalLimit }

    /// What is wrong with the trailer fields of an answer, `nil` if nothing is.
    ///
    /// The limits of the call are not known here, and AsyncHTTPClient hands over no trailer fields: the default limit applies.
    static func failure(ofTrailers trailers: HTTPHeaders?) -> PipelineError? {
        let (count, limit) = (trailers?.count ?? 0, PipelineLimits().headerCount)
        return count > limit ? PipelineError(.limit(.headerCount), "\(count) trailer fields, \(limit) allowed") : nil
    }

    /// What is wrong with the next head, `nil` when the client may have it.
    mutating func failure(of head: HTTPResponseHead) -> PipelineError? {
        switch head.status.code {
        case ..<100, 101:
            return PipelineError(.malformedResponse, "the status is \(head.status.code)")
        case ..<200:
            informationalCount += 1
            guard informationalCount > informationalLimit else { return nil }
            return PipelineError(
                .limit(.informational),
                "more than the \(informationalLimit) informational answers allowed"
            )
        default:
            informationalCount = 0
            return nil
        }
    }
}
#endif
