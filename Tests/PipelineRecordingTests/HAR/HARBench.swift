import Foundation
import Pipeline

@testable import PipelineRecording

/// Files for tests of HAR: the samples, and a folder of its own that goes with it.
final class HARBench {
    let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static let samples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples")
    static let sampleNames = ["mitmproxy-11.0.2-https-h2-httpbin.har", "mitmproxy-11.0.2-proxy-httpbin.har"]

    func url(_ name: String = "test.har") -> URL { folder.appending(path: name) }

    /// A file with this text in it.
    func write(_ text: String, name: String = "test.har") throws -> URL {
        try Data(text.utf8).write(to: url(name))
        return url(name)
    }

    /// A file with these entries on one line each.
    func write(entries: [String]) throws -> URL {
        try write(#"{"log":{"version":"1.2","entries":["# + entries.joined(separator: ",") + "]}}")
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }
}

extension HAREntry {
    /// An entry of this text.
    init(_ text: String) throws { self.init(json: try JSONParser.parse(text.utf8)) }

    /// With this response and nothing special in its request.
    init(response: String) throws {
        try self.init(#"{"request":{"method":"GET","url":"http://h/"},"response":\#(response)}"#)
    }

    /// With this request and nothing special in its response.
    init(request: String) throws { try self.init(#"{"request":\#(request),"response":{"status":200}}"#) }
}

/// What a piece of code has thrown.
func failure(of body: () throws -> Void) -> PipelineError? {
    do { try body() } catch { return error as? PipelineError }
    return nil
}
