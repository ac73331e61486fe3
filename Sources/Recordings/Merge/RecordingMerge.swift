package import Foundation
package import PipelineTransports

/// Makes one recording of several.
package enum RecordingMerge {
    /// One entry, and where its side files are.
    private struct Source {
        let start: Date
        let entry: HAREntry
        let folder: URL?
    }

    /// Writes the entries of all files into one, by their start; those that start together stay in the order of the files.
    ///
    /// An entry without a start keeps its place behind the one before it. Entries are taken over as they are, also those that cannot
    /// be used; side files are copied.
    ///
    /// - Returns: how many there are.
    package static func write(_ files: [HARFile], to output: URL) throws -> Int {
        let sideFiles = HARSideFiles(for: output)
        var merged = HARFile()
        for source in try sources(files) {
            let entry = source.entry
            merged.append(
                entry.sideFiles.isEmpty
                    ? entry : try sideFiles.moveBodies(of: entry.withoutSideFiles(in: source.folder))
            )
        }
        try merged.write(to: output)
        return merged.count
    }

    private static func sources(_ files: [HARFile]) throws -> [Source] {
        var sources: [Source] = []
        for file in files {
            var start = Date.distantPast
            let folder = file.url?.resolvingSymlinksInPath().deletingLastPathComponent()
            for index in 0..<file.count {
                let entry = try file.entry(at: index)
                start = entry.startedDate ?? start
                sources.append(Source(start: start, entry: entry, folder: folder))
            }
        }
        return sources.enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element)
    }
}
