#if canImport(UIKit)
public import UIKit

/// The image type of the platform.
@available(swift, deprecated: 7, message: "Use PipelineResponse.Image.")
public typealias Image = UIImage
#elseif canImport(AppKit)
public import AppKit

/// The image type of the platform.
@available(swift, deprecated: 7, message: "Use PipelineResponse.Image.")
public typealias Image = NSImage
#endif

#if canImport(UIKit) || canImport(AppKit)
extension Response {
    /// Returns the body as an image of the platform.
    ///
    /// - Throws: ``MoyaError/imageMapping(_:)``.
    public func mapImage() throws -> Image {
        guard let image = Image(data: data) else { throw MoyaError.imageMapping(self) }
        return image
    }
}
#endif
