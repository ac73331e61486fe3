import HTTPTypes
import Pipeline
import PipelineAPI

extension PostController {
    /// Removes a post with all that is attached to it.
    static func delete(id: Int) -> APIRequest<IgnoredBody> {
        request("\(id)").method(.delete).authorized().desiredStatusCode(.noContent)
    }
}
