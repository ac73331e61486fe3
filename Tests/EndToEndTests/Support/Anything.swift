import Foundation
import HTTPTypes
import Pipeline

/// `/anything`, which answers with what it was asked.
struct Anything: HTTPBinTarget {
    var method: HTTPMethod = .get
    var below = ""
    var task = RequestTask.requestPlain
    var headers: [String: String]?

    var path: String { "/anything" + below }
}
