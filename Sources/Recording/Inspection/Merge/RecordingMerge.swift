import Foundation

/// The merge of several recordings into one.
enum RecordingMerge {
    /// One entry, and the folder of its side files.
    private struct Source {
        let start: Date
        let entry: HAREntry
        let folder: URL?
    }

    /// Writes the entries of all files to one, sorted by their start.
    ///
    /// Entries with the same start keep the order of the files.
    ///
    /// An entry without a start stays after the entry before it. Entries are copied unchanged, including those that
    /// cannot be replayed; side files are copied as well. Pages keep the order of the files. If two files use one id
    /// for different pages, the page of the later file gets a new id.
    ///
    /// - Returns: the number of entries.
    static func write(_ files: [HARFile], to output: URL) throws -> Int {
        let sideFiles = HARSideFiles(for: output)
        var merged = HARFile()
        var pages = MergedPages()
        let sources = try sources(files, &pages)
        var log = merged.log
        if !pages.all.isEmpty { log["pages"] = .array(pages.all) }
        merged.replaceLog(with: log)
        for source in sources {
            let entry = source.entry
            merged.append(
                entry.sideFiles.isEmpty
                    ? entry : try sideFiles.moveBodies(of: entry.withoutSideFiles(in: source.folder))
            )
        }
        try merged.write(to: output)
        return merged.count
    }

    private static func sources(_ files: [HARFile], _ pages: inout MergedPages) throws -> [Source] {
        var sources: [Source] = []
        for file in files {
            var start = Date.distantPast
            let entries = try (0..<file.count).map { try file.entry(at: $0) }
            let ids = pages.add(file.log["pages"]?.elements ?? [], namedBy: entries)
            let folder = file.url?.resolvingSymlinksInPath().deletingLastPathComponent()
            for var entry in entries {
                start = entry.startedDate ?? start
                if let id = entry.json["pageref"]?.string.flatMap({ ids[$0] }) { entry.json["pageref"] = .string(id) }
                sources.append(Source(start: start, entry: entry, folder: folder))
            }
        }
        return sources.enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element)
    }
}
