// Written like an app for Moya 15.0: one import, a session of its own, a subclass of the provider, and forms as lists.
import PipelineMoya

class AppSession: Session, @unchecked Sendable {
    static let shared: AppSession = {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 30
        configuration.httpAdditionalHeaders = ["X-App": "shop"]
        return AppSession(configuration: configuration, startRequestsImmediately: false)
    }()
}

final class AppProvider<Target: TargetType>: MoyaProvider<Target>, @unchecked Sendable {
    override init(
        endpointClosure: @escaping EndpointClosure = MoyaProvider.defaultEndpointMapping,
        requestClosure: @escaping RequestClosure = MoyaProvider<Target>.defaultRequestMapping,
        stubClosure: @escaping StubClosure = MoyaProvider.neverStub,
        callbackQueue: DispatchQueue? = nil,
        session: Session = MoyaProvider<Target>.defaultAlamofireSession(),
        plugins: [PluginType] = [],
        trackInflights: Bool = false
    ) {
        super.init(
            endpointClosure: endpointClosure,
            requestClosure: requestClosure,
            stubClosure: stubClosure,
            callbackQueue: callbackQueue,
            session: session,
            plugins: plugins + [AppHeadersPlugin()],
            trackInflights: trackInflights
        )
    }
}

struct AppHeadersPlugin: PluginType {
    func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
        var request = request
        request.headers.add(name: "X-Version", value: "2")
        return request
    }
}

enum Photos {
    case upload(Data, album: String)
    case uploadTo(Data, album: String)
}

extension Photos: TargetType {
    var baseURL: URL { exampleURL }
    var path: String { "/photos" }
    var method: Moya.Method { .post }
    var headers: [String: String]? { nil }

    var task: Task {
        var forms: [MultipartFormData] = []
        switch self {
        case .upload(let data, let album):
            forms.append(.init(provider: .data(data), name: "image", fileName: "a.jpg", mimeType: "image/jpeg"))
            forms.append(.init(provider: .data(Data(album.utf8)), name: "album"))
            return .uploadMultipart(forms)
        case .uploadTo(let data, let album):
            forms.append(.init(provider: .data(data), name: "image", fileName: "a.jpg", mimeType: "image/jpeg"))
            return .uploadCompositeMultipart(forms, urlParameters: ["album": album])
        }
    }
}

let cachedPhoto: DownloadDestination = { temporaryURL, _ in (temporaryURL, [.removePreviousFile]) }
