import Foundation
import HTTPTypes
import Pipeline
import Testing

/// What `scripts/mitmproxy` has made ready; its text says what that is.
enum Mitmproxy {
    /// A HAR file of mitmproxy's, `nil` in a plain `swift test`.
    static let recording = value("HAR").map { URL(filePath: $0) }

    /// What curl has sent and received in it.
    static func manifest() throws -> [InterchangedRequest] {
        let path = try #require(value("MANIFEST"))
        return try JSONDecoder().decode([InterchangedRequest].self, from: Data(contentsOf: URL(filePath: path)))
    }

    /// What software that is not ours finds wrong with a recording; nothing when all is well.
    static func findings(_ check: String, _ arguments: String...) async throws -> String {
        try await run("scripts/interchange/check.py", [check] + arguments)
    }

    /// What an independent check finds wrong with a recording.
    static func faults(of file: URL) async throws -> String {
        try await run("scripts/harcheck.py", [file.path])
    }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["MITMPROXY_" + name]
    }

    /// Runs a script of this package, and returns what it says; one that fails says something.
    private static func run(_ script: String, _ arguments: [String]) async throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
            .standardizedFileURL
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: try #require(value("PYTHON")))
        process.arguments = [root.appending(path: script).path] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let (events, ended) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { ended.yield($0.terminationStatus) }
        try process.run()
        let data = try await Task { try output.fileHandleForReading.readToEnd() ?? Data() }.value
        var status: Int32 = -1
        for await code in events {
            status = code
            break
        }
        let text = String(decoding: data, as: UTF8.self)
        return status == 0 || !text.isEmpty ? text : "\(script) ends with \(status)"
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a suite only beside mitmproxy.
    static var besideMitmproxy: Self {
        .enabled(if: Mitmproxy.recording != nil, "scripts/mitmproxy sets MITMPROXY_HAR")
    }
}

/// A request, and what a client has got as its answer.
struct InterchangedRequest: Codable {
    var method: String
    var url: String
    var contentType = ""
    var body: Data?
    var status: Int
    var received: Data

    /// The request as a target, which sends it as it is.
    var target: InterchangedTarget { InterchangedTarget(request: self) }
}

/// A target that is nothing but its request.
struct InterchangedTarget: TargetType {
    let request: InterchangedRequest

    /// Joining would encode the query a second time.
    var baseURL: URL { URL(string: request.url) ?? URL(filePath: "/") }
    var path: String { "" }
    var method: HTTPMethod { HTTPMethod(rawValue: request.method) ?? .get }
    var task: RequestTask { request.body.map { .requestData($0) } ?? .requestPlain }
    var headers: [String: String]? { request.contentType.isEmpty ? nil : ["Content-Type": request.contentType] }
}
