import Foundation
import PipelineCore

/// A check of a recording: its shape according to HAR 1.2, and contradictions in it.
struct RecordingCheck {
    /// The folder of the side files.
    private let folder: URL?
    private let redaction: RecordingRedaction
    private var index: Int?
    private(set) var findings: [RecordingFinding] = []
    private var pages: Set<String> = []

    private init(_ folder: URL?, _ redaction: RecordingRedaction) {
        self.folder = folder
        self.redaction = redaction
    }

    /// Checks the content of a file.
    ///
    /// - Parameters:
    ///   - root: the content of the file.
    ///   - folder: the folder of its side files; `nil` if it has none.
    ///   - redaction: defines what is secret.
    /// - Returns: the findings, in the order of the file.
    static func findings(
        in root: JSONNode,
        folder: URL? = nil,
        _ redaction: RecordingRedaction = RecordingRedaction(.standard)
    ) -> [RecordingFinding] {
        var check = RecordingCheck(folder, redaction)
        check.checkLog(root)
        return check.findings
    }

    /// Checks a file.
    ///
    /// A file that cannot be read or is not JSON is also a finding.
    static func findings(
        of file: URL,
        _ redaction: RecordingRedaction = RecordingRedaction(.standard)
    ) -> [RecordingFinding] {
        do {
            var data = try Data(contentsOf: file)
            if data.starts(with: [0xef, 0xbb, 0xbf]) { data = data.dropFirst(3) }
            return findings(in: try JSONParser.parse(data), folder: file.deletingLastPathComponent(), redaction)
        } catch let failure as JSONParser.Failure {
            return [RecordingFinding(.shape, nil, "byte \(failure.offset)", failure.reason)]
        } catch {
            return [RecordingFinding(.shape, nil, file.lastPathComponent, "cannot be read")]
        }
    }

    mutating func say(_ level: RecordingFinding.Level, _ place: String, _ text: String) {
        findings.append(RecordingFinding(level, index, place, text))
    }

    /// Returns whether a node is an object, and reports the problems of its members.
    mutating func hasShape(_ shape: RecordingShape, _ node: JSONNode, _ place: String) -> Bool {
        guard let problems = shape.problems(of: node, at: place) else {
            say(.shape, place, "is not an object")
            return false
        }
        for problem in problems { say(.shape, problem.place, problem.text) }
        return true
    }

    /// Returns the elements of an array that are objects.
    @discardableResult
    mutating func items(_ name: String, of node: JSONNode, _ shape: RecordingShape, _ place: String) -> [JSONNode] {
        var items: [JSONNode] = []
        for (number, item) in (node[name]?.elements ?? []).enumerated()
        where hasShape(shape, item, "\(place).\(name)[\(number)]") {
            items.append(item)
        }
        return items
    }

    // MARK: The file

    private mutating func checkLog(_ root: JSONNode) {
        guard let log = root["log"], hasShape(.log, log, "log") else {
            if root["log"] == nil { say(.shape, "log", "is missing") }
            return
        }
        for name in ["creator", "browser"] {
            if let part = log[name] { _ = hasShape(.creator, part, "log.\(name)") }
        }
        pages = Set(items("pages", of: log, .page, "log").compactMap { $0["id"]?.string })
        let entries = log["entries"]?.elements ?? []
        for (number, entry) in entries.enumerated() {
            index = number
            if hasShape(.entry, entry, "entry") { checkEntry(entry) }
        }
        checkSecrets(of: entries)
    }

    /// Finds secret values outside of their own places that are too short to be replaced.
    private mutating func checkSecrets(of entries: [JSONNode]) {
        var secrets = RecordedSecrets()
        for entry in entries {
            guard let exchange = try? HAREntry(json: entry).exchange(sideFiles: folder) else { continue }
            secrets.formUnion(redaction.secrets(of: exchange))
        }
        let values = secrets.reported.sorted()
        guard !values.isEmpty else { return }
        let none = RecordingRedaction(Redactor(secretNames: []))
        for (number, entry) in entries.enumerated() {
            let redacted = redaction.entry(HAREntry(json: entry)).json
            let data = redacted.data()
            index = number
            for value in LeftSecret.found(among: values, { none.adding(secretValues: $0).containsSecret(in: data) }) {
                let left = LeftSecret(value: value, origin: secrets.origin(of: value))
                let lengths = "\(RecordedSecrets.reportedByteCount) to \(RecordedSecrets.replacedByteCount - 1) bytes"
                say(
                    left.looksGenerated ? .privacy : .warning,
                    none.adding(secretValues: [value]).path(in: redacted) ?? "entry",
                    "holds \(left.source(redaction)), of \(lengths); hide it with --secret or, if it is not secret, list "
                        + "its name with --plain"
                )
            }
        }
    }

    private mutating func checkEntry(_ entry: JSONNode) {
        if let page = entry["pageref"]?.string, !pages.contains(page) {
            say(.meaning, "entry.pageref", "is not the id of a page")
        }
        if let date = entry["startedDateTime"]?.string, !Self.isDate(date) {
            say(.meaning, "entry.startedDateTime", "is not an ISO 8601 date with a time zone")
        }
        checkTimings(of: entry)
        if let request = entry["request"], hasShape(.request, request, "request") { check(request: request) }
        if let response = entry["response"], hasShape(.response, response, "response") {
            check(response: response, of: entry)
        }
    }

    private mutating func checkTimings(of entry: JSONNode) {
        guard let timings = entry["timings"], hasShape(.timings, timings, "timings") else { return }
        for name in ["send", "wait", "receive"] {
            if let time = timings[name]?.double, time < 0 { say(.meaning, "timings.\(name)", "is negative") }
        }
        // The time for TLS is part of the time for connecting.
        let parts = ["blocked", "dns", "connect", "send", "wait", "receive"].compactMap { timings[$0]?.double }
        let sum = parts.reduce(0) { $0 + max(0, $1) }
        if let time = entry["time"]?.double, abs(time - sum) > 1 {
            let total = (sum * 1000).rounded() / 1000
            say(.meaning, "entry.time", "is \(time), but the timings add up to \(total)")
        }
    }

    private static func isDate(_ text: String) -> Bool {
        let pattern = /\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/
        return text.wholeMatch(of: pattern) != nil
    }

    // MARK: Bodies

    /// Returns the bytes of a body, or `nil` if there are none or they cannot be read.
    mutating func body(in holder: JSONNode, encoding: String?, _ place: String) -> Data? {
        if let name = holder["_file"]?.string {
            guard let data = sideFile(name) else {
                say(.meaning, "\(place)._file", "is not a file in the folder of the recording")
                return nil
            }
            return data
        }
        guard let text = holder["text"]?.string else { return nil }
        switch encoding {
        case nil:
            return Data(text.utf8)
        case "hex":
            return nil
        case "base64":
            guard let data = Data(base64Encoded: text) else {
                say(.meaning, "\(place).text", "is not base64")
                return nil
            }
            return data
        case let name?:
            say(.meaning, "\(place).encoding", "is \(name.prefix(20)), which is unknown")
            return nil
        }
    }

    private func sideFile(_ name: String) -> Data? {
        try? HARSideFiles.contents(of: name, in: folder?.resolvingSymlinksInPath())
    }
}
