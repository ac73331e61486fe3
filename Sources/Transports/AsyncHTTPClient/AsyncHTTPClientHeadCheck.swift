#if AsyncHTTPClient
import NIOHTTP1
import PipelineCore

/// A check for heads that AsyncHTTPClient must not see.
///
/// AsyncHTTPClient ignores a status below 200 and treats what follows as a parser bug.
struct AsyncHTTPClientHeadCheck {
    private let informationalLimit: Int
    private var informationalCount = 0

    init(informationalLimit: Int) { self.informationalLimit = informationalLimit }

    /// Returns what is wrong with the trailer fields of a response, or `nil` if they are valid.
    ///
    /// The default limit applies: the limits of the call are not known here, and AsyncHTTPClient does not pass on
    /// trailer fields.
    static func failure(ofTrailers trailers: HTTPHeaders?) -> PipelineError? {
        let (count, limit) = (trailers?.count ?? 0, PipelineLimits().headerCount)
        guard count > limit else { return nil }
        return PipelineError(.limit(.headerCount), "\(count) trailer fields; limits.headerCount is \(limit)")
    }

    /// Returns what is wrong with the next head, or `nil` if the client may see it.
    mutating func failure(of head: HTTPResponseHead) -> PipelineError? {
        switch head.status.code {
        case ..<100, 101:
            return PipelineError(.malformedResponse, "the status is \(head.status.code)")
        case ..<200:
            informationalCount += 1
            guard informationalCount > informationalLimit else { return nil }
            return PipelineError(
                .limit(.informational),
                "more than the \(informationalLimit) informational responses allowed"
            )
        default:
            informationalCount = 0
            return nil
        }
    }
}
#endif
