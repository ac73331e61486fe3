import Foundation
import PipelineFiles
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("FileCookieStore, several stores of a file", .realTime, .watched)
struct FileCookieStoreSharingTests {
    private let folder: CookieFolder

    init() throws { folder = try CookieFolder() }

    @Test("Two stores that change a file in turn lose no update, and each sees the other's")
    func inTurn() async throws {
        let stores = [folder.store(), folder.store()]
        var expected: [String] = []
        for index in 10..<30 {
            try await stores[index % 2].insert(.lasting("c\(index)"))
            expected.append("c\(index)")
            for store in stores { #expect(try await store.names == expected) }
        }
    }

    @Test("A store notices changes that leave size, date and perhaps the inode of the file as they were")
    func sameSize() async throws {
        let (first, second) = (folder.store(), folder.store())
        try await first.insert(.lasting("a", "0"))
        for value in 1...9 {
            // Two changes: the second one might get the inode of the file that the first one has replaced.
            try await second.insert(.lasting("a", "x"))
            try await second.insert(.lasting("a", "\(value)"))
            let date = CookieJar.Cookie.date
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.file.path)
            #expect(try await first.jar(account: "").cookies.map(\.value) == ["\(value)"])
        }
    }

    @Test("Four stores that change a file at the same time lose no update")
    func concurrent() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                let store = folder.store()
                for index in 0..<20 {
                    group.addTask { try await store.insert(.lasting("c\(number)-\(index)")) }
                }
            }
            try await group.waitForAll()
        }
        let jar = try await folder.store().jar(account: "")
        #expect(Set(jar.cookies.map(\.name)).count == 80)
        #expect(jar.cookies.map(\.order) == Array(0..<80))
    }

    @Test("Cookies in memory keep their place when another store has changed the file, unless it has set the same one")
    func sessionCookies() async throws {
        let (first, second) = (folder.store(), folder.store())
        try await first.insert(.lasting("a"), .session("s"), .session("t"), .lasting("b"))
        try await second.insert(.lasting("c"), .lasting("t"))
        #expect(try await first.names == ["a", "s", "b", "c", "t"])
        try await first.insert(.session("u"))
        #expect(try await first.names == ["a", "s", "b", "c", "t", "u"])
        #expect(try await second.names == ["a", "b", "c", "t"])
    }

    @Test("When the file is removed, its cookies are gone, and cookies in memory stay")
    func removedFile() async throws {
        let store = folder.store()
        try await store.insert(.lasting("a"), .session("s"))
        try FileManager.default.removeItem(at: folder.file)
        #expect(try await store.names == ["s"])
        try await store.insert(.lasting("b"))
        #expect(try await folder.store().names == ["b"])
    }

    @Test("An update fails if another process keeps the lock, and reading does not need it")
    func locked() async throws {
        let store = folder.store(patience: .zero)
        try await store.insert(.lasting("a"))
        let lock = try OpenFile(folder.file.path + ".lock", O_RDWR)
        #expect(try lock.tryLock())
        for change in [
            { try await store.insert(.lasting("b"), .session("s")) }, { try await store.remove(account: nil) },
        ] {
            let error = await #expect(throws: CookieStoreError.self) { try await change() }
            #expect(error?.code == .locked)
        }
        #expect(try await store.names == ["a", "b", "s"])
        lock.unlock()
        try await store.insert(.lasting("c"))
        #expect(try await store.names == ["a", "b", "s", "c"])
        #expect(try await folder.store().names == ["a", "b", "c"])
    }

    @Test(
        "While updates wait for the lock, jars can be read, and a cancelled update stops waiting"
    )
    func waitingUpdates() async throws {
        let store = folder.store(patience: .seconds(3600))
        try await store.insert(.lasting("a"))
        let lock = try OpenFile(folder.file.path + ".lock", O_RDWR)
        #expect(try lock.tryLock())
        let updates = (0..<20).map { index in
            Task { try await store.insert(.lasting("b\(index)"), .session("s\(index)")) }
        }
        for _ in 0..<100 { #expect(try await store.names.contains("a")) }
        for update in updates.dropFirst() { update.cancel() }
        for update in updates.dropFirst() {
            await #expect(throws: CancellationError.self) { try await update.value }
        }
        // Their cookies are kept in memory, and written by the next update.
        #expect(try await Set(store.names) == Set(["a"] + (1..<20).flatMap { ["b\($0)", "s\($0)"] }))
        lock.unlock()
        try await updates[0].value
        #expect(try await Set(folder.store().names) == Set(["a"] + (0..<20).map { "b\($0)" }))
    }

    @Test("An update has one deadline, however many others wait")
    func deadline() async throws {
        let store = folder.store(patience: .milliseconds(500))
        try await store.insert(.lasting("a"))
        let lock = try OpenFile(folder.file.path + ".lock", O_RDWR)
        #expect(try lock.tryLock())
        let begin = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    await #expect(throws: CookieStoreError.self) { try await store.insert(.lasting("b\(index)")) }
                }
            }
        }
        // One after another, they would take 20 s.
        #expect(ContinuousClock.now - begin < .seconds(15))
        lock.unlock()
    }

    @Test("Stores that wait for the lock do not occupy the threads of tasks")
    func waiting() async throws {
        try await folder.store().insert(.lasting("a"))
        let lock = try OpenFile(folder.file.path + ".lock", O_RDWR)
        #expect(try lock.tryLock())
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let store = folder.store()
                group.addTask { try await store.insert(.lasting("b\(index)")) }
            }
            group.addTask { lock.unlock() }
            try await group.waitForAll()
        }
        #expect(try await folder.store().names.count == count + 1)
    }
}
