package import Foundation
package import PipelineRecording
import PipelineRedaction

extension HARTool {
    /// Writes the entries as a page for a browser and returns the line to print.
    package func page(of file: URL, to output: URL) throws -> String {
        let har = try HARFile(contentsOf: file)
        let redaction = RecordingRedaction(redactor)
        let folder = file.resolvingSymlinksInPath().deletingLastPathComponent()
        var log = redaction.log(har.log)
        log["entries"] = .array(
            try (0..<har.count).map { index in
                redaction.entry(try har.entry(at: index).withoutSideFiles(in: folder)).json
            }
        )
        let page = InspectorPage.html(JSONNode.object(["log": log]).data())
        try HARWriter.replace(output) { try $0.append(page) }
        return Self.count(har.count, "entry", "entries")
    }
}
