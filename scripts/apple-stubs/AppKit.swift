// AppKit, as far as the sources return images. It re-exports Foundation.
@_exported public import AppleFoundation

// https://developer.apple.com/documentation/appkit/nsimage. The class is not isolated to the main actor.
//
// unsure: the headers may mark it as Sendable. Here, it is not.
open class NSImage: NSObject {
    // https://developer.apple.com/documentation/appkit/nsimage/init(data:)
    public init?(data: Data) {}
    // https://developer.apple.com/documentation/appkit/nsimage/size
    open var size: CGSize { never() }
}

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
