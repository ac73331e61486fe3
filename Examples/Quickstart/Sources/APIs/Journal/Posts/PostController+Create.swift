import Pipeline
import PipelineAPI

extension PostController {
    /// Creates a post.
    static func create(_ post: NewPost) -> APIRequest<Post> {
        request(payload: post).method(.post).authorized().desiredStatusCode(.created)
    }
}

struct NewPost: MultipartPayload {
    let text: String
    var images: [FormFile] = []
    var video: FormFile?
}
