#if canImport(UIKit) || canImport(AppKit)
import Foundation
import Pipeline
import TestSupport
import Testing

#if canImport(UIKit)
import UIKit
#else
import AppKit
#endif

@Suite("PipelineResponse: images", .watched)
struct PipelineResponseImageTests {
    /// A transparent GIF of one pixel.
    private static let gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

    @Test("A body with an image maps to the image of the platform")
    func image() throws {
        let data = try #require(Data(base64Encoded: Self.gif))
        let request = try makeResponse(200).request
        let response = PipelineResponse(request: request, statusCode: 200, data: data)
        #expect(try response.mapImage().size.width == 1)
    }

    @Test("Another body is mapping.image", arguments: ["", "<html>"])
    func notImage(_ body: String) throws {
        let error = #expect(throws: PipelineError.self) { _ = try makeResponse(200, body).mapImage() }
        #expect(error?.code == .mapping(.image))
    }
}
#endif
