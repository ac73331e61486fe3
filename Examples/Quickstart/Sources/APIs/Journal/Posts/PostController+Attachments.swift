import Foundation
import Pipeline
import PipelineAPI

extension PostController {
    /// Adds an image to a post.
    static func attach(_ image: FormFile, to id: Int) -> APIRequest<Post.Attachment> {
        request("\(id)", "images", payload: NewImage(image: image)).method(.post).authorized()
            .desiredStatusCode(.created)
    }

    /// Returns the bytes of an attachment of a post.
    static func attachment(_ fileName: String, of id: Int) -> APIRequest<Data> {
        request("\(id)", "attachments", fileName)
    }
}

struct NewImage: MultipartPayload {
    let image: FormFile
}
