import Pipeline
import PipelineAPI

extension PostController {
    /// Returns posts, oldest first.
    static func list(_ query: ListQuery = ListQuery()) -> APIRequest<[Post]> {
        request().query(query)
    }
}

struct ListQuery: Encodable, Sendable {
    var offset = 0
    var limit = 100
}
