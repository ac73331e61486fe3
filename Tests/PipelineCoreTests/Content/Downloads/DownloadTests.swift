import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Downloads", .tags(.concurrent), .watched)
struct DownloadTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static func provider(
        _ transport: any Transport,
        _ plugins: [any PluginType] = [],
        limits: ProviderConfiguration.Limits = ProviderConfiguration.Limits()
    ) -> Provider<TestTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(limits: limits, clock: ManualClock()))
    }

    func target(
        _ name: String = "a.txt",
        options: DownloadDestination.Options = [],
        validationType: ValidationType = .anyStatus
    ) -> TestTarget {
        TestTarget(
            task: .downloadDestination(.file(folder.file(name), options: options)),
            validationType: validationType
        )
    }

    static func body(_ text: String) -> PipelineBody {
        .stream(byteCount: text.utf8.count) { AsyncStream(unfolding: once(Data(text.utf8))) }
    }

    @Test("B-M33 The body is written to the file, and the response has the file's URL", arguments: [true, false])
    func download(isStream: Bool) async throws {
        let body = isStream ? Self.body("hello") : .bytes(Data("hello".utf8))
        let transport = ScriptedTransport([.status(200, body: body)])
        let response = try await Self.provider(transport).request(target())
        #expect(response.statusCode == 200)
        #expect(response.body.fileURL == folder.file("a.txt"))
        #expect(response.data.isEmpty)
        #expect(folder.text(of: "a.txt") == "hello")
        #expect(folder.names == ["a.txt"])
        #expect(transport.sent.first?.headers.isEmpty == true)
    }

    @Test("An empty response creates an empty file")
    func empty() async throws {
        _ = try await Self.provider(ScriptedTransport([.status(200)])).request(target())
        #expect(folder.text(of: "a.txt") == "")
    }

    @Test("If several downloads to one new file run at once, exactly one succeeds, and the file is complete")
    func sameDestination() async throws {
        let provider = Self.provider(ScriptedTransport(always: .status(200, body: "whole")))
        for round in 0..<50 {
            let target = target("a\(round)")
            let codes = await withTaskGroup(of: String.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        let error = await pipelineError { _ = try await provider.request(target) }
                        return error?.code.rawValue ?? "done"
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.sorted() == ["done", "file.exists", "file.exists"])
            #expect(folder.text(of: "a\(round)") == "whole")
        }
    }

    @Test("B-M32 A status that the target does not accept replaces no file, and the error has the body")
    func refusedStatus() async throws {
        try folder.write("old", to: "a.txt")
        let provider = Self.provider(ScriptedTransport([.status(404, body: Self.body("gone"))]))
        let refused = target(options: .removePreviousFile, validationType: .successCodes)
        let error = await pipelineError { _ = try await provider.request(refused) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data("gone".utf8))
        #expect(folder.text(of: "a.txt") == "old")
        #expect(folder.names == ["a.txt"])
    }

    @Test("A 2xx response that the target does not accept leaves no file")
    func refusedSuccess() async throws {
        let provider = Self.provider(ScriptedTransport([.status(200, body: Self.body("x"))]))
        let error = await pipelineError {
            _ = try await provider.request(target(validationType: .customCodes([201])))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data("x".utf8))
        #expect(folder.names == [])
    }

    @Test("A response that carries no file content stays in memory", arguments: [204, 205, 304, 404, 500])
    func noContent(_ status: Int) async throws {
        try folder.write("old", to: "a.txt")
        let provider = Self.provider(ScriptedTransport([.status(status, body: Self.body("why"))]))
        let response = try await provider.request(target(options: .removePreviousFile))
        #expect(response.data == Data("why".utf8))
        #expect(response.body.fileURL == nil)
        #expect(folder.text(of: "a.txt") == "old")
    }

    @Test("A HEAD request creates no file")
    func head() async throws {
        let provider = Self.provider(ScriptedTransport([.status(200)]))
        var target = target()
        target.method = .head
        _ = try await provider.request(target)
        #expect(folder.names == [])
    }

    @Test("A download that fails halfway leaves no file, and the next call works")
    func failure() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed)), .status(200, body: "whole")])
        feed.send(100)
        feed.finish(throwing: PipelineError(.connectionLost, "by script"))
        let provider = Self.provider(transport)
        let error = await pipelineError { _ = try await provider.request(target()) }
        #expect(error?.code == .connectionLost)
        #expect(folder.names == [])
        _ = try await provider.request(target())
        #expect(folder.names == ["a.txt"])
    }

    @Test("A body shorter than its announced length fails with truncated and leaves no file")
    func truncated() async throws {
        let body = PipelineBody.stream(byteCount: 10) { AsyncStream(unfolding: once(Data(count: 4))) }
        let error = await pipelineError {
            _ = try await Self.provider(ScriptedTransport([.status(200, body: body)])).request(target())
        }
        #expect(error?.code == .truncated)
        #expect(folder.names == [])
    }

    @Test("A download in flight is a hidden file of mode 0600 next to the destination; cancellation removes it")
    func cancelled() async throws {
        let feed = Feed()
        let arrived = Feed()
        let provider = Self.provider(ScriptedTransport([.status(200, body: .stream(feed, byteCount: 100))]))
        feed.send(50)
        let call = provider.request(
            target(),
            progress: { _ in arrived.finish() },
            completion: { _ in arrived.finish() }
        )
        for try await _ in arrived {}
        let name = folder.names.first ?? ""
        #expect(folder.names.count == 1)
        #expect(name.hasPrefix(".pipeline-"))
        #expect(try folder.mode(of: name) == 0o600)
        call.cancel()
        await eventually { folder.names.isEmpty }
    }

    @Test("A new file gets the default mode, and a replaced file keeps its own")
    func mode() async throws {
        let provider = Self.provider(ScriptedTransport(always: .status(200, body: "x")))
        #expect(FileManager.default.createFile(atPath: folder.file("plain").path, contents: nil))
        _ = try await provider.request(target())
        #expect(try folder.mode(of: "a.txt") == folder.mode(of: "plain"))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("a.txt").path)
        _ = try await provider.request(target(options: .removePreviousFile))
        #expect(try folder.mode(of: "a.txt") == 0o640)
    }

    @Test(
        "Rule 15 A body of unknown length fails with a typed error if it exceeds the limit",
        arguments: [10, 11]
    )
    func limit(_ count: Int) async throws {
        let limits = ProviderConfiguration.Limits(downloadByteCount: 10)
        let body = PipelineBody.stream { AsyncStream(unfolding: once(Data(count: count))) }
        let provider = Self.provider(ScriptedTransport([.status(200, body: body)]), limits: limits)
        let error = await pipelineError { _ = try await provider.request(target()) }
        #expect(error?.code == (count == 10 ? nil : .limit(.bodyBytes)))
        #expect(folder.names == (count == 10 ? ["a.txt"] : []))
    }

    @Test("A download may exceed the limit for buffered bodies")
    func largerThanMemory() async throws {
        let provider = Self.provider(
            ScriptedTransport([.status(200, body: Self.body("0123456789"))]),
            limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 4)
        )
        _ = try await provider.request(target())
        #expect(folder.text(of: "a.txt") == "0123456789")
    }

    @Test("Cancelling a call whose file is already complete leaves no file")
    func cancelledInPlace() async throws {
        let place = folder.file("a.txt")
        let destination = DownloadDestination.custom { _, _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return (place, [])
        }
        let provider = Self.provider(ScriptedTransport([.status(200, body: "x")]))
        let call = Task { try await provider.request(TestTarget(task: .downloadDestination(destination))) }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(folder.names == [])
    }

    @Test("A child process does not inherit the file that is being written")
    func closedOnExec() async throws {
        let journal = Journal()
        let place = folder.file("a.txt")
        let destination = DownloadDestination.custom { file, _ in
            var written = stat()
            guard stat(file.path, &written) == 0 else { throw TestFailure() }
            for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
                guard let descriptor = Int32(name) else { continue }
                var status = stat()
                guard fstat(descriptor, &status) == 0, status.st_ino == written.st_ino,
                    status.st_dev == written.st_dev
                else { continue }
                journal.add("\(fcntl(descriptor, F_GETFD) & FD_CLOEXEC)")
            }
            return (place, [])
        }
        let provider = Self.provider(ScriptedTransport([.status(200, body: "x")]))
        _ = try await provider.request(TestTarget(task: .downloadDestination(destination)))
        #expect(journal.entries == ["\(FD_CLOEXEC)"])
    }

    static let otherVolume: URL? = {
        let folder = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        return FileManager.default.isWritableFile(atPath: folder.path) ? folder : nil
    }()

    @Test(
        "A destination on another volume gets the complete file, and no temporary file remains",
        .enabled(if: otherVolume != nil)
    )
    func anotherVolume() async throws {
        let volume = try #require(Self.otherVolume).appending(path: "pipeline-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: volume, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: volume) }
        let journal = Journal()
        for options in [DownloadDestination.Options(), .removePreviousFile] {
            let destination = DownloadDestination.custom { file, _ in
                journal.add(file.path)
                return (volume.appending(path: "a"), options)
            }
            let body = Self.body("file")
            let provider = Self.provider(ScriptedTransport([.status(200, body: body)]))
            _ = try await provider.request(TestTarget(task: .downloadDestination(destination)))
        }
        #expect(try String(contentsOf: volume.appending(path: "a"), encoding: .utf8) == "file")
        #expect(try FileManager.default.contentsOfDirectory(atPath: volume.path) == ["a"])
        #expect(journal.entries.count == 2)
        #expect(journal.entries.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    }

    @Test("The encoding decides where the parameters of a download go")
    func parameters() async throws {
        let transport = ScriptedTransport(always: .status(200, body: "x"))
        let task = RequestTask.downloadParameters(
            parameters: ["q": "a b"],
            encoding: URLEncoding.default,
            destination: .file(folder.file("a.txt"))
        )
        _ = try await Self.provider(transport).request(TestTarget(task: task))
        #expect(transport.sent.first?.query == "q=a%20b")
        #expect(folder.names == ["a.txt"])
    }

    @Test("A process stage sees the file, and the body that it returns is written")
    func changedByPlugin() async throws {
        let journal = Journal()
        let shout = PluginStack.process { result, _ in
            guard case .success(var response) = result else { return }
            let body = response.body
            journal.add("file \(body.fileURL != nil)")
            let data = (try? await body.collect(upTo: 100)) ?? Data()
            response.body = .stream { AsyncStream(unfolding: once(Data(data.map { $0 - 32 }))) }
            result = .success(response)
        }
        let provider = Self.provider(ScriptedTransport([.status(200, body: Self.body("abc"))]), [shout])
        _ = try await provider.request(target())
        #expect(journal.entries == ["file true"])
        #expect(folder.text(of: "a.txt") == "ABC")
        #expect(folder.names == ["a.txt"])
    }

    @Test("A body that a plugin gives to a 404 response stays in memory")
    func noContentChangedByPlugin() async throws {
        let explain = PluginStack.process { result, _ in
            guard case .success(var response) = result else { return }
            response.body = Self.body("why")
            result = .success(response)
        }
        let provider = Self.provider(ScriptedTransport([.status(404)]), [explain])
        let response = try await provider.request(target())
        #expect(response.data == Data("why".utf8))
        #expect(folder.names == [])
    }

    @Test("A response returned by a plugin is written to the file too")
    func answeredByPlugin() async throws {
        let cache = PluginStack.intercept { request, _, _ in
            PipelineResponse(request: request, statusCode: 200, data: Data("cached".utf8))
        }
        _ = try await Self.provider(ScriptedTransport([]), [cache]).request(target())
        #expect(folder.text(of: "a.txt") == "cached")
    }

    @Test("A retry writes the file from the beginning, and the failed attempt leaves nothing")
    func secondAttempt() async throws {
        let transport = ScriptedTransport([
            .status(200, body: .stream(byteCount: 9) { AsyncStream(unfolding: once(Data("abc".utf8))) }),
            .status(200, body: Self.body("def")),
        ])
        let retry = PluginStack.intercept { request, _, next in
            do { return try await next(request) } catch { return try await next(request) }
        }
        let response = try await Self.provider(transport, [retry]).request(target())
        #expect(response.exchanges.map(\.failure) == [.truncated, nil])
        #expect(folder.text(of: "a.txt") == "def")
        #expect(folder.names == ["a.txt"])
    }

    @Test("A download follows a redirect")
    func redirect() async throws {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/other"], body: Self.body("moved")),
            .status(200, body: Self.body("file")),
        ])
        _ = try await Self.provider(transport).request(target())
        #expect(folder.text(of: "a.txt") == "file")
        #expect(folder.names == ["a.txt"])
    }

    @Test("The body of a redirect may exceed the limit for buffered bodies")
    func largeRedirect() async throws {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/other"], body: Self.body("moved")), .status(200, body: "file"),
        ])
        let limits = ProviderConfiguration.Limits(bufferedBodyByteCount: 4)
        _ = try await Self.provider(transport, limits: limits).request(target())
        #expect(folder.text(of: "a.txt") == "file")
    }

    @Test("Progress of a download is the fraction of the file that has been received")
    func progress() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: 40))])
        let progress = Self.provider(transport).requestWithProgress(target())
        let steps = try await RequestProgressTests.read(progress, feed, pieces: [10, 10, 20])
        #expect(RequestProgressTests.values(steps) == [0.25, 0.5, 0.999, 1])
        #expect(steps.map { $0.progress == 1 } == [false, false, false, true])
        #expect(steps.last?.response?.body.fileURL == folder.file("a.txt"))
    }

    @Test("A download that is read as a stream writes no file")
    func stream() async throws {
        let provider = Self.provider(ScriptedTransport([.status(200, body: Self.body("x"))]))
        let data = try await provider.stream(target()).response.body.collect(upTo: 10)
        #expect(data == Data("x".utf8))
        #expect(folder.names == [])
    }
}
