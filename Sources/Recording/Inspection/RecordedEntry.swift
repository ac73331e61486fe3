/// One entry of a recording as it can be read: an exchange, or why it is none.
package struct RecordedEntry: Sendable {
    /// Of the entry in its file, from 0.
    package var index: Int
    package var result: Result<RecordedExchange, any Error>

    package init(index: Int, result: Result<RecordedExchange, any Error>) {
        self.index = index
        self.result = result
    }

    /// All entries of a file, in its order.
    package static func all(of file: HARFile) -> [RecordedEntry] {
        (0..<file.count).map { index in RecordedEntry(index: index, result: Result { try file.exchange(at: index) }) }
    }
}
