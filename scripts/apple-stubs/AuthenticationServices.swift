// AuthenticationServices, as far as the sample of the guide Authentication uses it.
//
// unsure: the headers may isolate the class to the main actor, as they do the protocol. Here, it is not.
@_exported public import AppleFoundation

// https://developer.apple.com/documentation/authenticationservices/aspresentationanchor, here without NSWindow
public typealias ASPresentationAnchor = NSObject

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationpresentationcontextproviding
@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession
open class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    // https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/callback
    public final class Callback: NSObject {
        public class func customScheme(_ customScheme: String) -> Callback { never() }
        public class func https(host: String, path: String) -> Callback { never() }
    }

    // https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/init(url:callback:completionhandler:)
    public init(
        url URL: URL,
        callback: ASWebAuthenticationSession.Callback,
        completionHandler: @escaping ASWebAuthenticationSession.CompletionHandler
    ) { never() }

    weak open var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    open var prefersEphemeralWebBrowserSession: Bool {
        get { never() }
        set {}
    }
    @discardableResult open func start() -> Bool { never() }
    open func cancel() {}
}

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsessionerror-swift.struct
public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Int, Sendable {
        case canceledLogin = 1
        case presentationContextNotProvided = 2
        case presentationContextInvalid = 3
    }

    public init(_ code: Code, userInfo: [String: Any] = [:]) { never() }
}

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
