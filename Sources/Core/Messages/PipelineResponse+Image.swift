#if canImport(UIKit)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

#if canImport(UIKit) || canImport(AppKit)
extension PipelineResponse {
    #if canImport(UIKit)
    /// The image type of the platform.
    public typealias Image = UIImage
    #else
    /// The image type of the platform.
    public typealias Image = NSImage
    #endif

    /// Returns the body as an image of the platform: `UIImage`, or `NSImage` on macOS.
    ///
    /// - Returns: the image; the memory that drawing it takes depends on the content of the body, not on its length.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` (`.image`) and the
    ///   response.
    public func mapImage() throws -> Image {
        guard let image = Image(data: data) else {
            let reason = data.isEmpty ? emptyText : "not an image"
            throw PipelineError(.mapping(.image), "the body is \(reason)", response: self)
        }
        return image
    }
}
#endif
