import Foundation
import Pipeline

/// `/redirect-to`, with the location and the status in the query of the base URL, so that the task can hold a body.
struct RedirectTo: HTTPBinTarget {
    var location: String
    var code: Int
    var method: HTTPMethod
    var task: RequestTask

    init(_ location: String, code: Int = 302, method: HTTPRequest.Method = .get, task: RequestTask = .requestPlain) {
        self.location = location
        self.code = code
        self.method = method
        self.task = task
    }

    var baseURL: URL {
        HTTPBin.url.appending(queryItems: [
            URLQueryItem(name: "url", value: location), URLQueryItem(name: "status_code", value: String(code)),
        ])
    }
    var path: String { "/redirect-to" }

    /// The whole URL as text, for a redirect to a redirect.
    func url(on origin: String) -> String {
        let letters = CharacterSet(charactersIn: "a"..."z").union(.init(charactersIn: "A"..."Z")).union(
            .init(charactersIn: "0"..."9")
        )
        return
            "\(origin)\(path)?url=\(location.addingPercentEncoding(withAllowedCharacters: letters) ?? "")&status_code=\(code)"
    }
}
