import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("MIMEType", .watched)
struct MIMETypeTests {
    @Test("A media type may be a literal, a static member or a string")
    func mediaTypes() throws {
        let type = "image/jpeg"
        let types: [MIMEType] = ["image/jpeg", .jpeg, MIMEType(type)]
        #expect(Set(types).count == 1)
        for mimeType in types {
            let part = MultipartFormBodyPart(.absent, name: "n", mimeType: mimeType)
            #expect(try MultipartFormBodyPartTests.lines(part).contains("Content-Type: image/jpeg"))
        }
        #expect(MIMEType.svg.description == "image/svg+xml" && "\(MIMEType.octetStream)" == "application/octet-stream")
    }
}
