/// A problem in a recording and its place.
struct RecordingFinding: Sendable, Equatable {
    /// The kind of a finding.
    enum Level: String, Sendable {
        /// A member is missing or has another type than HAR 1.2 requires.
        case shape = "format"
        /// Members contradict each other.
        case meaning = "contradiction"
        /// A secret value where neither a recorder nor `har redact` replaces it.
        case privacy = "secret"
        /// A value where a secret would be misplaced, but which is probably not secret.
        case warning = "warning"
    }

    var level: Level
    /// The index of the entry, from 0; `nil` if the finding is about the file.
    var index: Int?
    /// The member, for example `response.content.size`.
    var place: String
    var text: String

    init(_ level: Level, _ index: Int?, _ place: String, _ text: String) {
        self.level = level
        self.index = index
        self.place = place
        self.text = text
    }
}

extension RecordingFinding: CustomStringConvertible {
    var description: String {
        level.rawValue + ":" + (index.map { " entry \($0)," } ?? "") + " \(place) \(text)"
    }
}
