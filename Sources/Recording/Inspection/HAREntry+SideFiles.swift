package import Foundation

extension HAREntry {
    /// The paths of the side files, relative to the folder of the recording.
    var sideFiles: [String] {
        [json["request"]?["postData"], json["response"]?["content"]].compactMap { $0?["_file"]?.string }
    }

    /// Returns the entry with its side files inlined, so that it can be changed or moved to another recording.
    ///
    /// - Parameter folder: the folder of the side files.
    /// - Returns: a copy; the same entry if it has no side files.
    /// - Throws: `.recording(.corrupt)` if a side file cannot be read.
    package func withoutSideFiles(in folder: URL?) throws -> HAREntry {
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
