import Foundation
import Pipeline

enum PhotosAPI: TargetType, AccessTokenAuthorizable {
    case photos
    case image(Photo)

    var baseURL: URL { Endpoint.url("https://photos.example/v1") }
    var path: String {
        switch self {
        case .photos: "photos"
        case .image(let photo): "photos/\(photo.id)/image"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var authorizationType: AuthorizationType? { .bearer }
    // For previews. The image is a single pixel.
    var sampleData: Data {
        switch self {
        case .photos: Data(#"[{"id": 1, "title": "Lake"}, {"id": 2, "title": "Tram"}]"#.utf8)
        case .image: Data(base64Encoded: "R0lGODlhAQABAIAAAAB7/wAAACwAAAAAAQABAAACAkQBADs=") ?? Data()
        }
    }
}

/// Makes the provider that all models of the app share.
func makeProvider(transport: any Transport, session: UserSession) -> Provider<PhotosAPI> {
    Provider(transport: transport, plugins: [.standard { session.tokens }])
}

nonisolated struct Photo: Decodable, Identifiable, Hashable {
    let id: Int
    let title: String
}
