import Pipeline
import PipelineAPI

/// The requests for posts with images and videos.
enum PostController: EndpointController {
    static let endpoint = "posts"
}
