import Foundation

struct Post: Codable, Sendable {
    let id: Int
    let text: String
    let created: Date
    var attachments: [Attachment]

    struct Attachment: Codable, Sendable, Equatable {
        let fileName: String
        let mimeType: String
        let byteCount: Int
    }
}
