import Foundation
import Pipeline
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What has been recorded and does not stand in the HAR file yet, in `<name>.journal` beside it.
///
/// Each line is an entry with a checksum before it. Whoever is killed leaves whole lines, and behind them at most a part of one,
/// which is dropped. To lose nothing, take the journal before the file is read, and discard it after the file is written.
///
/// All methods but ``add(_:)`` block, and are called in the journal's lane once it is shared.
final class HARJournal: Sendable {
    private struct State {
        /// `nil` after `discard`.
        var descriptor: Int32?
        var byteCount = 0
    }

    /// How many entries may wait for the disk.
    private static let maximumWaitingCount = 1000

    let url: URL
    /// The HAR file as it was given, which errors name.
    private let har: URL
    /// Where the journal is written, and the HAR file when it is done.
    let lane = FileLane()
    /// Changed in the lane only; the lock is never held while the file is used.
    private let state: Mutex<State>
    private let waitingCount = Atomic(0)

    /// Takes the journal of a HAR file for this recorder, with what another has left in it; creates the folder if it is missing.
    ///
    /// - Throws: `.recording(.busy)` while another recorder has it; `.recording(.notWritten)`; `.recording(.corrupt)` when a whole
    ///   line is wrong.
    init(for har: URL) throws {
        self.har = har
        let resolved = har.resolvingSymlinksInPath()
        url = resolved.deletingLastPathComponent()
            .appending(path: resolved.lastPathComponent + ".journal", directoryHint: .notDirectory)
        state = Mutex(try Self.open(url, har))
    }

    deinit {
        let state = state.withLock { $0 }
        guard let descriptor = state.descriptor else { return }
        if state.byteCount == 0 { _ = unlink(url.path) }
        // Closing alone would leave it to a process that is being started and has copies of all descriptors for a moment.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    /// Adds an entry in the lane, and does not wait for it.
    ///
    /// An entry that cannot be written is left out, and so is one that comes while 1,000 others wait for the disk.
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

    /// Adds an entry; in the file when this returns, if not yet on the disk.
    ///
    /// - Throws: `.recording(.notWritten)`, and then the journal is as before; `.recording(.busy)` when it was discarded and another
    ///   recorder has it now.
    func append(_ entry: HAREntry) throws {
        let text = entry.json.data()
        let line = Data((Self.checksum(text) + " ").utf8) + text + Data("\n".utf8)
        var state = state.withLock { $0 }
        if state.descriptor == nil { state = try Self.open(url, har) }
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

    /// All entries, oldest first, also those that another recorder has left.
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

    /// Removes the journal, once its entries stand in the HAR file.
    ///
    /// The next entry begins another.
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
    private static func open(_ url: URL, _ har: URL) throws -> State {
        // Between opening and locking, the recorder that had it may have removed it: then its name is another file's.
        for _ in 0..<100 {
            let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            #if canImport(Darwin)
            let descriptor = Darwin.open(url.path, flags, 0o600)
            #elseif canImport(Glibc)
            let descriptor = Glibc.open(url.path, flags, 0o600)
            #elseif canImport(Musl)
            let descriptor = Musl.open(url.path, flags, 0o600)
            #endif
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

    /// - Returns: the length of its whole lines, to which it is cut; `nil` when the name is another file's by now.
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

    /// Gives out the text of each whole line, but for what follows the last line end; a whole line that is wrong is an error.
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

    /// FNV-1a of 64 bits, in 16 digits.
    private static func checksum(_ text: Data) -> String {
        var hash = FNV1a()
        text.withUnsafeBytes { hash.add($0) }
        let digits = String(hash.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
