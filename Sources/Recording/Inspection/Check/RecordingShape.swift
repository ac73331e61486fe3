/// The members of an object of HAR 1.2, and their types.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
struct RecordingShape {
    enum Kind: String {
        case text = "a string"
        case number = "a number"
        case integer = "an integer"
        case array = "an array"
        case object = "an object"
        case flag = "a boolean"
    }

    var required: [(name: String, kind: Kind)]
    var optional: [(name: String, kind: Kind)] = []

    /// Returns the problems of an object, or `nil` if the node is not an object.
    func problems(of node: JSONNode, at place: String) -> [(place: String, text: String)]? {
        guard case .object(let members) = node else { return nil }
        var problems: [(String, String)] = []
        for (name, _) in required where !members.contains(where: { $0.name == name }) {
            problems.append(("\(place).\(name)", "is missing"))
        }
        for member in members {
            if let kind = (required + optional).first(where: { $0.name == member.name })?.kind {
                if !Self.isOf(kind, member.value) {
                    problems.append(("\(place).\(member.name)", "is not \(kind.rawValue)"))
                }
            } else if member.name != "comment", !member.name.hasPrefix("_") {
                problems.append(("\(place).\(member.name)", "is not a member of HAR 1.2 and does not begin with _"))
            }
        }
        return problems
    }

    private static func isOf(_ kind: Kind, _ node: JSONNode) -> Bool {
        switch (kind, node) {
        case (.text, .string), (.array, .array), (.object, .object), (.flag, .bool): true
        case (.number, .number): node.double != nil
        case (.integer, .number(let text)): Int(text) != nil
        default: false
        }
    }
}

extension RecordingShape {
    private static let pair: [(String, Kind)] = [("name", .text), ("value", .text)]

    static let log = RecordingShape(
        required: [("version", .text), ("creator", .object), ("entries", .array)],
        optional: [("browser", .object), ("pages", .array)]
    )
    static let creator = RecordingShape(required: [("name", .text), ("version", .text)])
    static let page = RecordingShape(
        required: [("startedDateTime", .text), ("id", .text), ("title", .text), ("pageTimings", .object)]
    )
    static let entry = RecordingShape(
        required: [
            ("startedDateTime", .text), ("time", .number), ("request", .object), ("response", .object),
            ("cache", .object),
            ("timings", .object),
        ],
        optional: [("pageref", .text), ("serverIPAddress", .text), ("connection", .text)]
    )
    static let request = RecordingShape(
        required: [
            ("method", .text), ("url", .text), ("httpVersion", .text), ("cookies", .array), ("headers", .array),
            ("queryString", .array), ("headersSize", .integer), ("bodySize", .integer),
        ],
        optional: [("postData", .object)]
    )
    /// `encoding` comes from the HAR 1.3 draft; HAR 1.2 cannot represent a body that is not text.
    static let postData = RecordingShape(
        required: [("mimeType", .text)],
        optional: [("text", .text), ("params", .array), ("encoding", .text)]
    )
    static let parameter = RecordingShape(
        required: [("name", .text)],
        optional: [("value", .text), ("fileName", .text), ("contentType", .text)]
    )
    static let response = RecordingShape(
        required: [
            ("status", .integer), ("statusText", .text), ("httpVersion", .text), ("cookies", .array),
            ("headers", .array),
            ("content", .object), ("redirectURL", .text), ("headersSize", .integer), ("bodySize", .integer),
        ]
    )
    static let content = RecordingShape(
        required: [("size", .integer), ("mimeType", .text)],
        optional: [("compression", .integer), ("text", .text), ("encoding", .text)]
    )
    static let timings = RecordingShape(
        required: [("send", .number), ("wait", .number), ("receive", .number)],
        optional: [("blocked", .number), ("dns", .number), ("connect", .number), ("ssl", .number)]
    )
    static let cookie = RecordingShape(
        required: pair,
        optional: [
            ("path", .text), ("domain", .text), ("expires", .text), ("httpOnly", .flag), ("secure", .flag),
            ("sameSite", .text),
        ]
    )
    static let header = RecordingShape(required: pair)
    static let query = RecordingShape(required: pair)
}
