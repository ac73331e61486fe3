import Foundation
import Pipeline

/// `/anything`, which responds with the request it received.
struct Anything: HTTPBinTarget {
    var method: HTTPMethod = .get
    var below = ""
    var task = RequestTask.requestPlain
    var headers: [String: String]?

    var path: String { "/anything" + below }
}
