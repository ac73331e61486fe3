import Foundation
import Pipeline

/// A target whose properties each test sets as needed.
struct SampleTarget: TargetType {
    var baseURL = URL(filePath: "/")
    var path = "/path"
    var method = HTTPMethod.get
    var task = RequestTask.requestPlain
    var headers: [String: String]?
    var validationType = ValidationType.anyStatus
    var sampleData = Data()
    var options = RequestOptions()

    init(_ baseURL: String = "https://example.com", _ configure: (inout SampleTarget) -> Void = { _ in }) throws {
        guard let url = URL(string: baseURL) else { throw URLError(.badURL) }
        self.baseURL = url
        configure(&self)
    }
}

/// A target that implements only the requirements without defaults.
struct MinimalTarget: TargetType {
    let baseURL: URL
    let path = ""
    let method = HTTPMethod.get
    let task = RequestTask.requestPlain
}

enum SampleOption: RequestOptions.Key {
    static let defaultValue = "default"
}

/// A response to a GET of https://example.com/path.
func makeResponse(
    _ statusCode: Int = 200,
    _ body: String = "",
    contentType: String? = nil
) throws -> PipelineResponse {
    var response = PipelineResponse(
        request: try PipelineRequest(url: "https://example.com/path"),
        statusCode: statusCode,
        data: Data(body.utf8)
    )
    if let contentType { response.headers[.contentType] = contentType }
    return response
}
