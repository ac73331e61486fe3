import Pipeline
import PipelineAPI

/// Posts with images and videos.
enum PostController: EndpointController {
    static let endpoint = "posts"
}
