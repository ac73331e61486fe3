import Foundation
import PipelineCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The recorded entries that are not in the HAR file yet, in `<name>.journal` beside it.
///
/// Each line is an entry with a checksum before it. A killed process leaves whole lines and at most one partial line at
/// the end, which is dropped. To lose no entries, open the journal before the file is read, and discard it after the
/// file is written.
///
/// All methods except ``add(_:)`` block. Once the journal is shared, they must be called in its lane.
final class HARJournal: Sendable {
    private struct State {
        /// `nil` after `discard()`.
        var descriptor: Int32?
        var byteCount = 0
    }

    /// The most entries that may wait to be written.
    private static let maximumWaitingCount = 1000

    let url: URL
    /// The HAR file as it was given, for use in errors.
    private let har: URL
    /// The lane in which the journal, and finally the HAR file, is written.
    let lane = FileLane()
    /// Changed only in the lane.
    ///
    /// The lock is never held while the file is used.
    private let state: Mutex<State>
    private let waitingCount = Atomic(0)

    /// Locks the journal of a HAR file for this recorder, including entries that another recorder has left.
    ///
    /// Creates the folder if it is missing.
    ///
    /// - Throws: `.recording(.busy)` while another recorder uses it; `.recording(.notWritten)`; `.recording(.corrupt)`
    ///   if a whole line is invalid.
    init(for har: URL) throws {
        self.har = har
        let resolved = har.resolvingSymlinksInPath()
        url = resolved.deletingLastPathComponent()
            .appending(path: resolved.lastPathComponent + ".journal", directoryHint: .notDirectory)
        state = Mutex(try Self.acquire(url, har))
    }

    deinit {
        let state = state.withLock { $0 }
        guard let descriptor = state.descriptor else { return }
        if state.byteCount == 0 { _ = unlink(url.path) }
        // Closing alone would keep the lock for a process that is being started and briefly has copies of all
        // descriptors.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    /// Adds an entry in the lane, without waiting.
    ///
    /// An entry is dropped if it cannot be written, or if 1,000 others are waiting to be written.
    func add(_ entry: HAREntry) {
        guard waitingCount.add(1, ordering: .relaxed).newValue <= Self.maximumWaitingCount else {
            waitingCount.subtract(1, ordering: .relaxed)
            return
        }
        lane.add { [self] in
            try? append(entry)
            waitingCount.subtract(1, ordering: .relaxed)
        }
    }

    /// Adds an entry.
    ///
    /// When this returns, the entry is in the file, but may not be on the disk yet.
    ///
    /// - Throws: `.recording(.notWritten)`, which leaves the journal unchanged; `.recording(.busy)` if the journal was
    ///   discarded and another recorder uses it now.
    func append(_ entry: HAREntry) throws {
        let text = entry.json.data()
        let line = Data((Self.checksum(text) + " ").utf8) + text + Data("\n".utf8)
        var state = state.withLock { $0 }
        if state.descriptor == nil { state = try Self.acquire(url, har) }
        defer { self.state.withLock { $0 = state } }
        guard let descriptor = state.descriptor else { return }
        do {
            try line.withUnsafeBytes { try HARWriter.append($0, to: descriptor, url) }
            state.byteCount += line.count
        } catch {
            _ = ftruncate(descriptor, off_t(state.byteCount))
            throw error
        }
    }

    /// Returns all entries, oldest first, including those that another recorder has left.
    ///
    /// - Throws: `.recording(.corrupt)`.
    func entries() throws -> [HAREntry] {
        guard let descriptor = state.withLock({ $0.descriptor }) else { return [] }
        var entries: [HAREntry] = []
        _ = try Self.readLines(of: descriptor, url) { text in
            guard let json = try? JSONParser.parse(text) else { return false }
            entries.append(HAREntry(json: json))
            return true
        }
        return entries
    }

    /// Removes the entries, but not the journal.
    ///
    /// - Throws: `.recording(.notWritten)`.
    func clear() throws {
        try state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            guard ftruncate(descriptor, 0) == 0 else { throw PipelineError.notWritten(url, errno: errno) }
            state.byteCount = 0
        }
    }

    /// Whether the journal was removed and no entry was added since then.
    var isDiscarded: Bool { state.withLock { $0.descriptor == nil } }

    /// Removes the journal after its entries have been written to the HAR file.
    ///
    /// The next entry starts a new journal.
    ///
    /// - Throws: `.recording(.notWritten)`.
    func discard() throws {
        guard let descriptor = state.withLock({ $0.descriptor }) else { return }
        guard unlink(url.path) == 0 || errno == ENOENT else {
            throw PipelineError.notWritten(har, errno: errno, in: url.deletingLastPathComponent())
        }
        _ = close(descriptor)
        state.withLock { $0 = State() }
    }
}

// MARK: - The file

extension HARJournal {
    private static func acquire(_ url: URL, _ har: URL) throws -> State {
        // The previous recorder may remove the journal between opening and locking; the name then belongs to another
        // file.
        for _ in 0..<100 {
            let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            let descriptor = open(url.path, flags, 0o600)
            guard descriptor >= 0 else {
                let number = errno
                if number == EISDIR || number == ELOOP { throw PipelineError.notWritten(url, errno: number) }
                guard number == ENOENT else {
                    throw PipelineError.notWritten(har, errno: number, in: url.deletingLastPathComponent())
                }
                try HARWriter.makeFolder(of: har)
                continue
            }
            do {
                if let byteCount = try lock(descriptor, url) {
                    return State(descriptor: descriptor, byteCount: byteCount)
                }
            } catch {
                _ = close(descriptor)
                throw error
            }
            _ = close(descriptor)
        }
        throw busy(url)
    }

    private static func busy(_ url: URL) -> PipelineError {
        PipelineError(.recording(.busy), "another recorder writes \(url.lastPathComponent.debugDescription)")
    }

    /// - Returns: the length of the whole lines, to which the file is truncated; `nil` if the name now belongs to
    ///   another file.
    private static func lock(_ descriptor: Int32, _ url: URL) throws -> Int? {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw busy(url) }
            throw PipelineError.notWritten(url, errno: errno)
        }
        var mine = stat()
        var named = stat()
        guard fstat(descriptor, &mine) == 0, lstat(url.path, &named) == 0, mine.st_ino == named.st_ino,
            mine.st_dev == named.st_dev
        else { return nil }
        guard mine.st_mode & S_IFMT == S_IFREG else { throw PipelineError.notWritten(url, errno: EISDIR) }
        let byteCount = try readLines(of: descriptor, url) { _ in true }
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw PipelineError.notWritten(url, errno: errno) }
        return byteCount
    }

    /// Passes the text of each whole line to `body` and ignores what follows the last line break.
    ///
    /// An invalid whole line is an error.
    ///
    /// - Returns: the length of the whole lines.
    private static func readLines(of descriptor: Int32, _ url: URL, _ body: (Data) -> Bool) throws -> Int {
        let source = try HARSource(descriptor: fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
        var line = Data()
        var end = 0
        try source.forEachWindow(in: 0..<source.byteCount) { window, _ in
            for part in window.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
                if part.offset > 0 {
                    guard let text = text(of: line), body(text) else {
                        throw HARFailure(offset: end, index: nil, reason: "a damaged line").error(in: url)
                    }
                    end += line.count + 1
                    line.removeAll(keepingCapacity: true)
                }
                line.append(contentsOf: part.element)
            }
        }
        return end
    }

    private static func text(of line: Data) -> Data? {
        guard line.count > 17, line[line.startIndex + 16] == UInt8(ascii: " ") else { return nil }
        let text = line.dropFirst(17)
        return Data(checksum(text).utf8) == line.prefix(16) ? text : nil
    }

    /// Returns the 64-bit FNV-1a hash, in 16 digits.
    private static func checksum(_ text: Data) -> String {
        var hash = FNV1a()
        text.withUnsafeBytes { hash.add($0) }
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
