import Foundation

extension HAREntry {
    /// The names of its side files, from the folder of the recording.
    var sideFiles: [String] {
        [json["request"]?["postData"], json["response"]?["content"]].compactMap { $0?["_file"]?.string }
    }

    /// The entry with its bodies in itself, so that it may be changed, or move to another recording.
    ///
    /// - Parameter folder: where its side files are.
    /// - Returns: a copy, the same when it has none.
    /// - Throws: `.recording(.corrupt)` when one cannot be read.
    func withoutSideFiles(in folder: URL?) throws -> HAREntry {
        guard !sideFiles.isEmpty else { return self }
        let exchange = try exchange(sideFiles: folder)
        var entry = self
        if json["request"]?["postData"]?["_file"] != nil {
            entry.json["request"]?["postData"]?["_file"] = nil
            entry.json["request"]?["postData"]?["text"] = .string(
                (exchange.request.body ?? Data()).base64EncodedString()
            )
            entry.json["request"]?["postData"]?["_encoding"] = .string("base64")
        }
        if json["response"]?["content"]?["_file"] != nil {
            entry.json["response"]?["content"]?["_file"] = nil
            entry.json["response"]?["content"]?["text"] = .string(
                (exchange.response?.body ?? Data()).base64EncodedString()
            )
            entry.json["response"]?["content"]?["encoding"] = .string("base64")
        }
        return entry
    }
}
