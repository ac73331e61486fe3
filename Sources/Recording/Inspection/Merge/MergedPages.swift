/// The pages of several recordings, with unique ids.
struct MergedPages {
    private(set) var all: [JSONNode] = []
    private var pages: [String: JSONNode?] = [:]

    /// Adds the pages of a recording.
    ///
    /// - Parameters:
    ///   - added: the pages.
    ///   - entries: the entries of the recording. If they reference an id without a page, it must not become the id of
    ///     a page.
    /// - Returns: the new id for each id that another recording uses for something else.
    mutating func add(_ added: [JSONNode], namedBy entries: [HAREntry]) -> [String: String] {
        let taken = pages
        let own = Set(added.compactMap { $0["id"]?.string })
        let named = Set(entries.compactMap { $0.json["pageref"]?.string })
        var ids: [String: String] = [:]
        for page in added {
            guard let id = page["id"]?.string else {
                all.append(page)
                continue
            }
            if taken[id] == .some(.some(page)) { continue }
            var page = page
            if taken[id] != nil {
                ids[id] = ids[id] ?? unusedID(for: id, own.union(named))
                page["id"] = ids[id].map { .string($0) }
            }
            pages[ids[id] ?? id] = page
            all.append(page)
        }
        for id in named.subtracting(own).sorted() {
            if taken[id] != nil { ids[id] = unusedID(for: id, own.union(named)) }
            pages[ids[id] ?? id] = .some(nil)
        }
        return ids
    }

    private func unusedID(for id: String, _ others: Set<String>) -> String {
        var number = 2
        while pages.keys.contains("\(id)-\(number)") || others.contains("\(id)-\(number)") { number += 1 }
        return "\(id)-\(number)"
    }
}
