import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("MultipartFormBodyPart: media types of files", .watched)
struct FileMediaTypesTests {
    @Test(
        "B-A5 The file extension determines the media type on every platform",
        arguments: [
            ("a.jpg", "image/jpeg"), ("a.JPEG", "image/jpeg"), ("a.png", "image/png"), ("a.tar.gz", "application/gzip"),
            ("a.json", "application/json"), ("a.mp4", "video/mp4"), (".csv", "text/csv"), ("a.html", "text/html"),
            ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a.unknown", "application/octet-stream"), ("a", "application/octet-stream"),
            ("", "application/octet-stream"),
            ("a.", "application/octet-stream"), ("jpg", "application/octet-stream"),
            ("a.jpg/b", "application/octet-stream"),
        ]
    )
    func mediaType(_ fileName: String, _ type: String) throws {
        let part = MultipartFormBodyPart(.absent, name: "n", fileName: fileName)
        #expect(
            try MultipartFormBodyPartTests.lines(part) == [
                MultipartFormBodyPartTests.disposition(fileName), "Content-Type: \(type)",
            ]
        )
    }
}
