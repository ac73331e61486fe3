import Foundation
import Pipeline
import PipelineAPI

/// The endpoints for posts of the examples' API.
enum PostController: EndpointController {
    static let endpoint = "post"

    static func create(_ post: NewPost) -> APIRequest<Post> {
        request(payload: post).method(.post).desiredStatusCode(.created).authorized()
    }

    static func list(_ query: ListQuery = ListQuery()) -> APIRequest<[Post]> { request().query(query) }

    static func get(id: Int) -> APIRequest<Post> { request("\(id)").addCustomError(.notFound, "Post not found") }

    static func edit(id: Int, _ edit: PostEdit) -> APIRequest<Post> {
        request("\(id)", payload: edit).method(.patch).authorized()
    }

    static func delete(id: Int) -> APIRequest<IgnoredBody> {
        request("\(id)").method(.delete).desiredStatusCode(.noContent).authorized()
    }
}

struct Post: Decodable, Equatable {
    let id: Int
    let text: String
    let at: Date
}

struct NewPost: MultipartPayload {
    var text: String
    var isPublic = true
    var at: Date?
    var images: [FormFile] = []
    var video: FormFile?
}

struct PostEdit: FormURLEncodedPayload {
    var text: String?
    var tags: [String] = []
    var isPublic = false
    var at: Date?
}

struct ListQuery: Encodable {
    var offset = 0
    var limit = 100
    var search: String?
}
