// Foundation of Apple platforms: that of Linux, the family of URLSession, and members that Linux lacks.
//
// Signatures, nullability and Sendable follow NSURLSession.h of the SDK for macOS 26, whose blocks are @Sendable
// (NS_SWIFT_SENDABLE). The requirements of delegates that the sources implement are mandatory here although they are
// optional there, so that a method whose signature is wrong fails instead of never being called.
@_exported public import ObjectiveC
@_exported public import Security

// sys/stat.h, fchmod(2), and poll.h, poll(2). Constants rather than functions, because a second function would make
// calls with literals ambiguous. A call that only the function of Glibc accepts is not found.
public let fchmod: @Sendable (Int32, mode_t) -> Int32 = { _, _ in never() }
public let poll: @Sendable (UnsafeMutablePointer<pollfd>?, nfds_t, Int32) -> Int32 = { _, _, _ in never() }

// https://developer.apple.com/documentation/foundation/urlrequest
public struct URLRequest: Equatable, Hashable, Sendable {
    public typealias CachePolicy = NSURLRequest.CachePolicy

    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0) {
        never()
    }

    public var url: URL? {
        get { never() }
        set {}
    }
    public var cachePolicy: CachePolicy {
        get { never() }
        set {}
    }
    public var timeoutInterval: TimeInterval {
        get { never() }
        set {}
    }
    public var httpMethod: String? {
        get { never() }
        set {}
    }
    public var allHTTPHeaderFields: [String: String]? {
        get { never() }
        set {}
    }
    public var httpBody: Data? {
        get { never() }
        set {}
    }
    public var httpBodyStream: InputStream? {
        get { never() }
        set {}
    }
    public var httpShouldHandleCookies: Bool {
        get { never() }
        set {}
    }
    public func value(forHTTPHeaderField field: String) -> String? { never() }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}

// https://developer.apple.com/documentation/foundation/nsurlrequest
open class NSURLRequest: NSObject, @unchecked Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
        case returnCacheDataElseLoad = 2
        case returnCacheDataDontLoad = 3
        case reloadIgnoringLocalAndRemoteCacheData = 4
        case reloadRevalidatingCacheData = 5
    }
}

// https://developer.apple.com/documentation/foundation/urlresponse
open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { never() }
    open var mimeType: String? { never() }
    open var expectedContentLength: Int64 { never() }
    open var textEncodingName: String? { never() }
    open var suggestedFilename: String? { never() }
}

// https://developer.apple.com/documentation/foundation/httpurlresponse
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) {
        never()
    }

    open var statusCode: Int { never() }
    open var allHeaderFields: [AnyHashable: Any] { never() }
    open func value(forHTTPHeaderField field: String) -> String? { never() }
}

// https://developer.apple.com/documentation/foundation/httpcookie/acceptpolicy
open class HTTPCookie: NSObject, @unchecked Sendable {
    public enum AcceptPolicy: UInt, Sendable {
        case always = 0
        case never = 1
        case onlyFromMainDocumentDomain = 2
    }
}

// https://developer.apple.com/documentation/foundation/httpcookiestorage, …/urlcache, …/urlcredentialstorage
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
open class URLCache: NSObject, @unchecked Sendable {}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlsessionconfiguration
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open class var `default`: URLSessionConfiguration { never() }
    open class var ephemeral: URLSessionConfiguration { never() }
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { never() }

    open var identifier: String? { never() }
    open var requestCachePolicy: NSURLRequest.CachePolicy {
        get { never() }
        set {}
    }
    open var timeoutIntervalForRequest: TimeInterval {
        get { never() }
        set {}
    }
    open var timeoutIntervalForResource: TimeInterval {
        get { never() }
        set {}
    }
    open var waitsForConnectivity: Bool {
        get { never() }
        set {}
    }
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { never() }
        set {}
    }
    open var httpShouldSetCookies: Bool {
        get { never() }
        set {}
    }
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { never() }
        set {}
    }
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { never() }
        set {}
    }
    open var httpMaximumConnectionsPerHost: Int {
        get { never() }
        set {}
    }
    open var httpCookieStorage: HTTPCookieStorage? {
        get { never() }
        set {}
    }
    open var urlCredentialStorage: URLCredentialStorage? {
        get { never() }
        set {}
    }
    open var urlCache: URLCache? {
        get { never() }
        set {}
    }
}

// https://developer.apple.com/documentation/foundation/urlsession
open class URLSession: NSObject, @unchecked Sendable {
    // https://developer.apple.com/documentation/foundation/urlsession/responsedisposition
    public enum ResponseDisposition: Int, Sendable {
        case cancel = 0
        case allow = 1
        case becomeDownload = 2
        case becomeStream = 3
    }

    // https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential = 0
        case performDefaultHandling = 1
        case cancelAuthenticationChallenge = 2
        case rejectProtectionSpace = 3
    }

    public init(configuration: URLSessionConfiguration) { never() }
    public init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) { never() }

    open class var shared: URLSession { never() }
    open var configuration: URLSessionConfiguration { never() }
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { never() }
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { never() }
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { never() }
    open func finishTasksAndInvalidate() {}
    open func invalidateAndCancel() {}
}

// https://developer.apple.com/documentation/foundation/urlsessiontask
open class URLSessionTask: NSObject, @unchecked Sendable {
    open var taskIdentifier: Int { never() }
    open var originalRequest: URLRequest? { never() }
    open var currentRequest: URLRequest? { never() }
    open var response: URLResponse? { never() }
    open var error: (any Error)? { never() }
    open var countOfBytesExpectedToReceive: Int64 { never() }
    open func cancel() {}
    open func resume() {}
}
// https://developer.apple.com/documentation/foundation/urlsessiondatatask, …/urlsessionuploadtask
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlsessiondelegate
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    )
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

// https://developer.apple.com/documentation/foundation/urlsessiondatadelegate
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    )
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    open var protectionSpace: URLProtectionSpace { never() }
    open var previousFailureCount: Int { never() }
}

// https://developer.apple.com/documentation/foundation/urlprotectionspace
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var host: String { never() }
    open var port: Int { never() }
    open var authenticationMethod: String { never() }
    // https://developer.apple.com/documentation/foundation/urlprotectionspace/servertrust
    open var serverTrust: SecTrust? { never() }
    override open func isProxy() -> Bool { never() }
}
// https://developer.apple.com/documentation/foundation/nsurlauthenticationmethodservertrust
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

// https://developer.apple.com/documentation/foundation/urlcredential
open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable {
        case none = 0
        case forSession = 1
        case permanent = 2
        case synchronizable = 3
    }

    public init(user: String, password: String, persistence: URLCredential.Persistence) { never() }
    public init(trust: SecTrust) { never() }
    public init(identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence) {
        never()
    }

    open var persistence: URLCredential.Persistence { never() }
    open var user: String? { never() }
    open var password: String? { never() }
    open var hasPassword: Bool { never() }
    open var identity: SecIdentity? { never() }
    open var certificates: [Any] { never() }
}

// https://developer.apple.com/documentation/foundation/urlsessiontaskmetrics
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    // https://developer.apple.com/documentation/foundation/urlsessiontaskmetrics/resourcefetchtype
    public enum ResourceFetchType: Int, Sendable {
        case unknown = 0
        case networkLoad = 1
        case serverPush = 2
        case localCache = 3
    }

    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { never() }
    open var redirectCount: Int { never() }
}

// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    open var request: URLRequest { never() }
    open var response: URLResponse? { never() }
    open var fetchStartDate: Date? { never() }
    open var domainLookupStartDate: Date? { never() }
    open var domainLookupEndDate: Date? { never() }
    open var connectStartDate: Date? { never() }
    open var secureConnectionStartDate: Date? { never() }
    open var secureConnectionEndDate: Date? { never() }
    open var connectEndDate: Date? { never() }
    open var requestStartDate: Date? { never() }
    open var requestEndDate: Date? { never() }
    open var responseStartDate: Date? { never() }
    open var responseEndDate: Date? { never() }
    open var networkProtocolName: String? { never() }
    open var isProxyConnection: Bool { never() }
    open var isReusedConnection: Bool { never() }
    open var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { never() }
    open var remoteAddress: String? { never() }
    public var remotePort: Int? { never() }
    open var localAddress: String? { never() }
    public var localPort: Int? { never() }
}

// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/value(forkey:)
extension NSObject {
    public func value(forKey key: String) -> Any? { never() }
}

#if iOS
// https://developer.apple.com/documentation/foundation/process, which only macOS has
@available(*, unavailable) public final class Process {}
#endif

/// The body of every stub: nothing runs.
func never() -> Never { fatalError("a stub is only type-checked") }
