import Foundation
import Pipeline
import PipelineRecording

/// HAR files for tests: the samples, and a temporary folder that is removed with the bench.
final class HARBench {
    let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static let samples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples")
    static let sampleNames = ["mitmproxy-11.0.2-https-h2-httpbin.har", "mitmproxy-11.0.2-proxy-httpbin.har"]

    func url(_ name: String = "test.har") -> URL { folder.appending(path: name) }

    /// Writes a file with this text and returns its URL.
    func write(_ text: String, name: String = "test.har") throws -> URL {
        try Data(text.utf8).write(to: url(name))
        return url(name)
    }

    /// Writes a file with these entries and returns its URL.
    func write(entries: [String]) throws -> URL {
        try write(#"{"log":{"version":"1.2","entries":["# + entries.joined(separator: ",") + "]}}")
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }
}

extension HAREntry {
    /// Parses an entry from JSON text.
    init(_ text: String) throws { self.init(json: try JSONParser.parse(text.utf8)) }

    /// Creates an entry with this response and a minimal request.
    init(response: String) throws {
        try self.init(#"{"request":{"method":"GET","url":"http://h/"},"response":\#(response)}"#)
    }

    /// Creates an entry with this request and a minimal response.
    init(request: String) throws { try self.init(#"{"request":\#(request),"response":{"status":200}}"#) }
}

/// Returns the `PipelineError` that a closure throws, if any.
func failure(of body: () throws -> Void) -> PipelineError? {
    do { try body() } catch { return error as? PipelineError }
    return nil
}
