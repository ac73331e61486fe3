import Pipeline

/// Posts with images and videos.
enum PostController: EndpointController {
    static let endpoint = "posts"
}
