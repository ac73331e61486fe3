import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Reading and extending a RequestTask", .watched)
struct RequestTaskReadingTests {
    private func request(_ task: RequestTask, _ method: HTTPRequest.Method = .post) throws -> PipelineRequest {
        try Endpoint(url: "https://example.com/x?a=1", method: method, task: task).makeRequest()
    }

    @Test("The kind, parameters, encoding and body of a task can be read")
    func properties() throws {
        let parameters = RequestTask.requestParameters(parameters: ["b": 2], encoding: JSONEncoding.default)
        #expect(parameters.kind == .parameters)
        #expect(parameters.parameters?["b"] as? Int == 2)
        #expect(parameters.encoding is JSONEncoding)
        #expect(parameters.body == nil && parameters.urlParameters.isEmpty)

        let composite = RequestTask.requestCompositeData(bodyData: Data("d".utf8), urlParameters: ["q": "v"])
        #expect(composite.kind == .composite)
        #expect(composite.body?.bytes == Data("d".utf8))
        #expect(composite.urlParameters["q"] as? String == "v")
        #expect(composite.parameters == nil && composite.encoding == nil)

        let file = RequestTask.uploadFile(URL(filePath: "/tmp/x"))
        #expect(file.kind == .file && file.body?.fileURL == URL(filePath: "/tmp/x"))
        #expect(RequestTask.requestPlain.kind == .plain && RequestTask.requestPlain.body == nil)
        let destination = DownloadDestination.file(URL(filePath: "/tmp/y"))
        #expect(RequestTask.downloadDestination(destination).encoding == nil)
        #expect(RequestTask.downloadDestination(destination).parameters == nil)
    }

    @Test("The task of an APIRequest has the parameters and encoding of the task it was given")
    func ofAPIRequest() {
        let own = RequestTask.requestParameters(parameters: ["b": 2], encoding: URLEncoding.httpBody)
        let task = APIRequest<IgnoredBody>("x").method(.post).task(own).task
        #expect(task.kind.description == "what an APIRequest carries")
        #expect(task.parameters?["b"] as? Int == 2)
        #expect(task.encoding is URLEncoding)
        #expect(task.adding(parameters: ["c": 3]).parameters?["c"] as? Int == 3)
    }

    @Test(
        "Added parameters use the task's encoding, or else the query, and never replace existing values",
        arguments: [
            (RequestTask.requestPlain, "a=1&b=new&c=3", nil),
            (.requestData(Data("d".utf8)), "a=1&b=new&c=3", "d"),
            (.requestJSONEncodable(["k": 1]), "a=1&b=new&c=3", #"{"k":1}"#),
            (.requestParameters(parameters: ["b": 2], encoding: JSONEncoding.default), "a=1", #"{"b":2,"c":3}"#),
            (.requestParameters(parameters: ["b": 2], encoding: URLEncoding.httpBody), "a=1", "b=2&c=3"),
            (.requestParameters(parameters: ["b": 2], encoding: URLEncoding.queryString), "a=1&b=2&c=3", nil),
            (.requestCompositeData(bodyData: Data("d".utf8), urlParameters: ["b": 2]), "a=1&b=2&c=3", "d"),
            (
                .requestCompositeParameters(
                    bodyParameters: ["b": 2],
                    bodyEncoding: URLEncoding.httpBody,
                    urlParameters: ["q": 1]
                ), "a=1&q=1", "b=2&c=3"
            ),
        ] as [(RequestTask, String, String?)]
    )
    func adding(task: RequestTask, query: String, body: String?) throws {
        let longer = task.adding(parameters: ["b": "new"]).adding(parameters: ["b": "newer", "c": 3])
        let request = try request(longer)
        #expect(request.query == query)
        #expect(String(decoding: request.body.bytes ?? Data(), as: UTF8.self) == body ?? "")
        #expect(longer.kind == task.kind)
    }

    @Test("Nested literals of mixed elements are parameters if their type is annotated")
    func mixedLiterals() throws {
        let parameters: RequestParameters = [
            "tags": ["a", 1, true] as [any Sendable], "page": ["size": 20, "sort": "name"] as [String: any Sendable],
        ]
        let task = RequestTask.requestParameters(parameters: parameters, encoding: JSONEncoding.default)
        let body = try request(task).body.bytes ?? Data()
        #expect(String(decoding: body, as: UTF8.self) == #"{"page":{"size":20,"sort":"name"},"tags":["a",1,true]}"#)
    }

    @Test("Added parameters are kept when parts are added")
    func addingParts() throws {
        let parts = [MultipartFormBodyPart(.bytes(Data("v".utf8)), name: "n")]
        let form = RequestTask.uploadMultipart(parts).adding(parameters: ["b": 2]).adding(parts: parts)
        #expect(try request(form).query == "a=1&b=2")
        let own = RequestTask.uploadCompositeMultipart(parts, urlParameters: ["b": 1]).adding(parameters: [
            "b": 2, "c": 3,
        ])
        #expect(try request(own).query == "a=1&b=1&c=3")
    }

    @Test("The error for uploading a URL that is not a file URL does not show the URL")
    func uploadOfRemoteURL() throws {
        let remote = try #require(URL(string: "https://user:canary@example.com/a?token=canary"))
        let error = #expect(throws: PipelineError.self) { try request(.uploadFile(remote)) }
        #expect(error?.code == .file(.unreadable))
        #expect(error?.reason.contains("is not a file URL") == true)
        #expect(error.map { "\($0)".contains("canary") } == false)
    }

    @Test("An escaped path segment remains one segment")
    func pathSegment() throws {
        #expect(Endpoint.pathSegment("feature/a b?c#d%20") == "feature%2Fa%20b%3Fc%23d%2520")
        #expect(Endpoint.pathSegment("é") == "%C3%A9")
        #expect(Endpoint.pathSegment("a:b@c;d=e,f+g~h") == "a:b@c;d=e,f+g~h")
        let target = try SampleTarget { $0.path = "branches/" + Endpoint.pathSegment("a/b") }
        #expect(Endpoint(target).url == "https://example.com/branches/a%2Fb")
        #expect(try Endpoint(target).makeRequest().head.path == "/branches/a%2Fb")
        let api = APIRequest<IgnoredBody>("branches", Endpoint.pathSegment("a/b"), "files")
        #expect(api.path == "branches/a%2Fb/files")
    }

    @Test("M03: a path that leaves its base URL with .. is refused, and other dots are sent")
    func leavingPath() throws {
        for path in ["..", "../x", "/../x", "a/../../x", "/a/./../../x", "//../x"] {
            let target = try SampleTarget { $0.path = path }
            let error = #expect(throws: PipelineError.self) { try Endpoint(target).makeRequest() }
            #expect(error?.code == .invalidRequest(.path), "\(path)")
        }
        for (path, sent) in [("a/../x", "/x"), ("./x", "/x"), ("a/..", "/"), ("..a/b..", "/..a/b.."), ("...", "/...")] {
            let target = try SampleTarget { $0.path = path }
            #expect(try Endpoint(target).makeRequest().head.path == sent)
        }
    }

    @Test("M03: a value that is empty or a step in a path is refused, also escaped", arguments: ["", ".", ".."])
    func stepAsSegment(step: String) throws {
        for segment in [Endpoint.pathSegment(step), Endpoint.pathSegment(step).lowercased()] {
            for path in ["users/" + segment, segment + "/keys", "a/" + segment + "/b"] {
                let target = try SampleTarget { $0.path = path }
                let error = #expect(throws: PipelineError.self) { try Endpoint(target).makeRequest() }
                #expect(error?.code == .invalidRequest(.path))
            }
        }
        for path in ["a%2Fb", "a/%2Ea", "...", "%2E%2E%2E", "a%2E"] {
            let target = try SampleTarget { $0.path = path }
            #expect(throws: Never.self) { try Endpoint(target).makeRequest() }
        }
    }

    @Test("Header fields can be set and read by string names")
    func headersByText() throws {
        var request = try PipelineRequest(url: "https://example.com/x")
        try request.setHeader("1", for: "X-Date", isSecret: true)
        try request.setHeader("2", for: "x-date")
        #expect(request.header("X-DATE") == "2" && request.header("X-None") == nil && request.header("no token") == nil)
        #expect(request.headers.count == 1)
        #expect(HTTPField.Name("X-Date").map { request.isSecret($0) } == true)
        let bad = #expect(throws: PipelineError.self) { try request.setHeader("canary", for: "X Date: canary") }
        #expect(bad?.code == .invalidRequest(.headerName))
        #expect(bad.map { "\($0)".contains("canary") } == false)
        var response = try makeResponse()
        response.headers.append(HTTPField(name: .vary, value: "<a>"))
        response.headers.append(HTTPField(name: .vary, value: "<b>"))
        #expect(response.header("vary") == "<a>, <b>")
    }

    @Test("The status of a failed response can be read from the error")
    func statusCode() throws {
        #expect(PipelineError(.unacceptableStatus, "x", response: try makeResponse(404)).statusCode == 404)
        #expect(PipelineError(.offline, "x").statusCode == nil)
    }
}
