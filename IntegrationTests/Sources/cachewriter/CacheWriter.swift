import Foundation
import HTTPTypes
import PipelineCaching

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A process that the tests of `DiskCacheStore` kill, whose disk is full, or that may not write its folder.
///
/// usage: `cachewriter write FOLDER`, `cachewriter full FOLDER` or `cachewriter read-only FOLDER`
@main
enum CacheWriter {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(2) }
        let store = DiskCacheStore(
            URL(filePath: arguments[2]),
            maximumByteCount: 2 << 20,
            maximumBodyByteCount: 1 << 20
        )
        do {
            switch arguments[1] {
            case "write": try await write(to: store)
            case "full": try await fill(store)
            case "read-only": try await read(store, in: URL(filePath: arguments[2]))
            default: exit(2)
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    /// Writes, reads, updates and removes entries in four tasks; prints a dot after each step.
    private static func write(to store: DiskCacheStore) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<5_000 {
                        do {
                            try await step(store)
                        } catch let error as CacheStoreError where error.code == .timedOut {
                            // Another process has the lock.
                        }
                        try FileHandle.standardOutput.write(contentsOf: Data(".".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private struct WrongBody: Error {}

    private static func step(_ store: DiskCacheStore) async throws {
        guard let key = CacheSample.keys.randomElement(), let count = CacheSample.byteCounts.randomElement()
        else { return }
        switch Int.random(in: 0..<10) {
        case 0...5:
            try await CacheSample.write(CacheSample.entry(key, variant: "\(Int.random(in: 0..<3))"), count, to: store)
        case 6...8:
            for entry in try await store.entries(for: key)
            where try await CacheSample.hasBody(entry, in: store) == false { throw WrongBody() }
        default:
            guard var entry = try await store.entries(for: key).randomElement() else { return }
            if Bool.random() { return try await store.remove(entry) }
            entry.headers[.age] = "1"
            try await store.update(entry)
        }
    }

    /// Stores entries while files cannot be longer than 256 KiB, then without this limit, and prints the errors.
    private static func fill(_ store: DiskCacheStore) async throws {
        signal(SIGXFSZ, SIG_IGN)
        let first = CacheSample.entry(CacheSample.keys[0])
        try await CacheSample.write(first, 1_000, to: store)
        try setFileLimit(256 << 10)
        var errors: [CacheStoreError] = []
        // Too long for the file of a body, then together for the log of the database.
        for (index, byteCount) in ([500_000] + Array(repeating: 30_000, count: 20)).enumerated() {
            do {
                try await CacheSample.write(CacheSample.entry(CacheSample.keys[index + 1]), byteCount, to: store)
            } catch let error as CacheStoreError {
                errors.append(error)
            }
        }
        // Reading does not need the disk to have room.
        let isReadable = try await store.entries(for: first.key).count == 1
        try setFileLimit(nil)
        let entry = CacheSample.entry(CacheSample.keys[0])
        guard let last = try await CacheSample.write(entry, 500_000, to: store) else { exit(3) }
        let isWritable = try await CacheSample.hasBody(last, in: store) == true
        print("errors: \(Set(errors.map { "\($0)" }).sorted())")
        print("readable: \(isReadable), writable: \(isWritable)")
    }

    /// Stores an entry as a user who is not root, makes the folder read-only, and prints what then works.
    private static func read(_ store: DiskCacheStore, in folder: URL) async throws {
        let user: uid_t = 65_534
        if geteuid() == 0 {
            guard chown(folder.deletingLastPathComponent().path, user, user) == 0, setgid(user) == 0,
                setuid(user) == 0
            else { throw POSIXError(.EPERM) }
        }
        let entry = CacheSample.entry(CacheSample.keys[0])
        try await CacheSample.write(entry, 100_000, to: store)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        for (name, store) in [("open", store), ("new", DiskCacheStore(folder))] {
            do {
                let found = try await store.entries(for: entry.key)
                let hasBody = try await CacheSample.hasBody(found[0], in: store) == true
                print("\(name): \(found.count) found, body \(hasBody)")
            } catch { print("\(name): \(error)") }
            do {
                try await CacheSample.write(CacheSample.entry(CacheSample.keys[1]), 100_000, to: store)
            } catch { print("\(name): \(error)") }
        }
    }

    private static func setFileLimit(_ byteCount: Int?) throws {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(1)
        #else
        let resource = RLIMIT_FSIZE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw POSIXError(.EINVAL) }
        limit.rlim_cur = byteCount.map(rlim_t.init) ?? limit.rlim_max
        guard setrlimit(resource, &limit) == 0 else { throw POSIXError(.EINVAL) }
    }
}
