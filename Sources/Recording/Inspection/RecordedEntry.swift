/// One entry of a recording: an exchange, or the reason why it cannot be read.
struct RecordedEntry: Sendable {
    /// The index of the entry in its file, from 0.
    var index: Int
    var result: Result<RecordedExchange, any Error>
    /// The size of a body that the file does not contain; `nil` if it contains the body.
    var missingByteCount: Int?

    /// Returns all entries of a file, in order.
    static func all(of file: HARFile) -> [RecordedEntry] {
        (0..<file.count).map { index in
            let missing = (try? file.entry(at: index))?.missingByteCount
            return RecordedEntry(
                index: index,
                result: Result { try file.exchange(at: index) },
                missingByteCount: missing
            )
        }
    }
}
