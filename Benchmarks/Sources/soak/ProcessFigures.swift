import Foundation

/// Figures that Linux reports about this process; `nil` on other systems.
enum ProcessFigures {
    /// The number of open sockets, pipes and files.
    ///
    /// Event loops are not counted. Foundation creates one on a worker thread that waits for a child process or a
    /// URLSession. The thread closes its three descriptors when it exits, at an unpredictable time.
    static var descriptorCount: Int? {
        let folder = "/proc/self/fd"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target.map { !$0.hasPrefix("anon_inode:") } ?? false
        }
    }

    static var threadCount: Int? { entryCount(of: "/proc/self/task") }

    /// The resident bytes, after the allocator has released unused memory.
    static var residentByteCount: Int? {
        _ = trim?(0)
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let words = text.split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return nil }
        return pages * Int(sysconf(CInt(_SC_PAGESIZE)))
    }

    /// Makes the allocator release more freed memory, with one arena for all threads and a separate mapping for every
    /// large block.
    static func steadyAllocator() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let set = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let (arenaCount, mappingThreshold): (CInt, CInt) = (-8, -3)
        _ = set(arenaCount, 1)
        _ = set(mappingThreshold, 64 << 10)
    }

    /// The function `malloc_trim` of glibc, which Swift's glibc module does not have.
    private static let trim: (@convention(c) (Int) -> CInt)? = {
        guard let symbol = dlsym(nil, "malloc_trim") else { return nil }
        return unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
    }()

    private static func entryCount(of path: String) -> Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.count
    }
}
