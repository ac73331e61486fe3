#if canImport(UIKit)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

#if canImport(UIKit)
extension PipelineResponse {
    /// The platform's image.
    public typealias Image = UIImage
}
#elseif canImport(AppKit)
extension PipelineResponse {
    /// The platform's image.
    public typealias Image = NSImage
}
#endif

#if canImport(UIKit) || canImport(AppKit)
extension PipelineResponse {
    /// The body as an image of the platform: `UIImage`, on macOS `NSImage`.
    ///
    /// - Returns: the image; how much memory it takes when it is drawn depends on what the body holds, not on its length.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` (`.image`) and the response.
    public func mapImage() throws -> Image {
        guard let image = Image(data: data) else {
            let reason = data.isEmpty ? emptyText : "not an image"
            throw PipelineError(.mapping(.image), "the body is \(reason)", response: self)
        }
        return image
    }
}
#endif
