import Pipeline
import PipelineAPI

extension PostController {
    /// Deletes a post and its attachments.
    static func delete(id: Int) -> APIRequest<IgnoredBody> {
        request("\(id)").method(.delete).authorized().desiredStatusCode(.noContent)
    }
}
