/// Something that is wrong with a recording, and where.
struct RecordingFinding: Sendable, Equatable {
    /// What kind of wrong.
    enum Level: String, Sendable {
        /// A member is missing or of another type than HAR 1.2 says.
        case shape = "S"
        /// What contradicts itself.
        case meaning = "M"
        /// A secret value where neither a recorder nor `har redact` replaces it.
        case privacy = "P"
    }

    var level: Level
    /// Of the entry, from 0; `nil` for what belongs to the file.
    var index: Int?
    /// Such as `response.content.size`.
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
        level.rawValue + (index.map { " entry \($0)," } ?? "") + " \(place) \(text)"
    }
}
