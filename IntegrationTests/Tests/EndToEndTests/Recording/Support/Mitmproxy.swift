import Foundation
import Pipeline
import TestSupport
import Testing

/// The files that `scripts/mitmproxy` prepares; the script documents them.
enum Mitmproxy {
    /// A HAR file that mitmproxy recorded, or `nil` in a plain `swift test`.
    static let recording = value("HAR").map { URL(filePath: $0) }

    /// The requests in the recording, with what curl sent and received.
    static func manifest() throws -> [InterchangedRequest] {
        let path = try #require(value("MANIFEST"))
        return try JSONDecoder().decode([InterchangedRequest].self, from: Data(contentsOf: URL(filePath: path)))
    }

    /// The faults that third-party software finds in a recording, or an empty text if there are none.
    static func findings(_ check: String, _ arguments: String...) async throws -> String {
        try await run("scripts/interchange/check.py", [check] + arguments)
    }

    /// The faults that an independent check finds in a recording.
    static func faults(of file: URL) async throws -> String {
        try await run("scripts/harcheck.py", [file.path])
    }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["MITMPROXY_" + name]
    }

    /// Runs a script of this package and returns its output, which is never empty if the script fails.
    private static func run(_ script: String, _ arguments: [String]) async throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../..")
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
        try process.run(within: 120)
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
    /// Runs a suite only if there is a mitmproxy recording.
    static var besideMitmproxy: Self {
        .enabled(if: Mitmproxy.recording != nil, "scripts/mitmproxy sets MITMPROXY_HAR")
    }
}

/// A request, and the response that a client received.
struct InterchangedRequest: Codable {
    var method: String
    var url: String
    var contentType = ""
    var body: Data?
    var status: Int
    var received: Data

    /// The request as a target, which sends it unchanged.
    var target: InterchangedTarget { InterchangedTarget(request: self) }
}

/// A target that consists only of its request.
struct InterchangedTarget: TargetType {
    let request: InterchangedRequest

    /// The whole URL, because joining would encode the query a second time.
    var baseURL: URL { URL(string: request.url) ?? URL(filePath: "/") }
    var path: String { "" }
    var method: HTTPMethod { HTTPMethod(rawValue: request.method) ?? .get }
    var task: RequestTask { request.body.map { .requestData($0) } ?? .requestPlain }
    var headers: [String: String]? { request.contentType.isEmpty ? nil : ["Content-Type": request.contentType] }
}
