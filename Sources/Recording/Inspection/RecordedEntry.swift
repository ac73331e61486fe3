/// One entry of a recording as it can be read: an exchange, or why it is none.
struct RecordedEntry: Sendable {
    /// Of the entry in its file, from 0.
    var index: Int
    var result: Result<RecordedExchange, any Error>

    /// All entries of a file, in its order.
    static func all(of file: HARFile) -> [RecordedEntry] {
        (0..<file.count).map { index in RecordedEntry(index: index, result: Result { try file.exchange(at: index) }) }
    }
}
