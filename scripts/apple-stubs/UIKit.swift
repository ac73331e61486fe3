// UIKit, as far as the sources return images. It re-exports Foundation.
@_exported public import AppleFoundation

// https://developer.apple.com/documentation/uikit/uiimage. The class is not isolated to the main actor.
//
// unsure: the headers mark it as Sendable since iOS 16. Here, it is not.
open class UIImage: NSObject {
    // https://developer.apple.com/documentation/uikit/uiimage/init(data:)
    public init?(data: Data) {}
    // https://developer.apple.com/documentation/uikit/uiimage/size
    open var size: CGSize { never() }
}

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
