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

@Suite("Downloads to a full disk", .watched)
struct DiskFullTests {
    @Test("F01, M05 A download to a full disk fails with file.noSpace, which names its destination, and leaves no file")
    func noSpace() async {
        // Runs in its own process, because the limit on the file size applies to the whole process.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var size = rlimit(rlim_cur: 64 << 10, rlim_max: 64 << 10)
            #if canImport(Glibc)
            let isSet = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &size) == 0
            #else
            let isSet = setrlimit(RLIMIT_FSIZE, &size) == 0
            #endif
            let folder = try TemporaryFolder()
            let transport = ScriptedTransport { _, index in
                .status(200, body: .bytes(Data(count: index == 0 ? 100_000 : 1000)))
            }
            let provider = Provider<TestTarget>(transport: transport)
            let target = TestTarget(task: .downloadDestination(.file(folder.file("a"))))
            let error = await pipelineError { _ = try await provider.request(target) }
            // The call waits only briefly for the removal.
            await eventually { folder.names.isEmpty }
            _ = try await provider.request(target)
            #expect(isSet)
            #expect(error?.code == .file(.noSpace))
            #expect(error?.reason == "the file \"a\" does not fit on its volume")
            #expect(folder.names == ["a"])
        }
    }
}
