import Foundation

/// An nginx process on a free port of 127.0.0.1.
///
/// It responds to `/task7/1024` with 1,024 bytes. Each task has a folder of its own.
final class Nginx {
    enum Failure: Error, CustomStringConvertible {
        case missing
        case silent(String)

        var description: String {
            switch self {
            case .missing: "nginx is not installed (Debian: apt-get install nginx-light)"
            case .silent(let log): "nginx did not start within 5 s; its log:\n\(log)"
            }
        }
    }

    static let url = "http://127.0.0.1:\((try? FreePort.server.get()) ?? 0)"
    private static let taskCount = 256

    /// Returns the path of a page.
    ///
    /// Each task has its own path, so that `DeduplicationPlugin` shares no response.
    static func path(_ byteCount: Int, _ task: Int) -> String { "/task\(task)/\(byteCount)" }

    private let shell = Process()
    /// The shell ends nginx and removes the folder when this pipe closes, even if this process has crashed.
    private let lifeline = Pipe()

    private static let script = """
        trap '' INT TERM
        "$0" -e stderr -p "$1" -c "$1/nginx.conf" 2>"$1/error.log" &
        cat >/dev/null
        kill $!
        wait $!
        rm -rf "$1"
        """

    init(bodyByteCounts: [Int]) throws {
        guard let executable = Self.executable() else { throw Failure.missing }
        let folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID())")
        let port = try FreePort.server.get()
        try Self.fill(folder, port, bodyByteCounts)
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", Self.script, executable, folder.path]
        shell.standardInput = lifeline
        try shell.run()
        let deadline = ContinuousClock.now + .seconds(5)
        while !FreePort.answers(port) {
            guard ContinuousClock.now < deadline else {
                let log = try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)
                stop()
                throw Failure.silent(log ?? "")
            }
            usleep(10_000)
        }
    }

    func stop() {
        try? lifeline.fileHandleForWriting.close()
        shell.waitUntilExit()
    }

    private static func executable() -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":") + ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"]
        return folders.map { "\($0)/nginx" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func fill(_ folder: URL, _ port: UInt16, _ byteCounts: [Int]) throws {
        let pages = folder.appending(path: "pages")
        try FileManager.default.createDirectory(at: pages, withIntermediateDirectories: true)
        for byteCount in byteCounts {
            let text = String(repeating: #"{"id":1,"name":"lamp"},"#, count: byteCount / 23 + 1)
            try Data(text.utf8.prefix(byteCount)).write(to: pages.appending(path: "\(byteCount)"))
        }
        for task in 0..<taskCount {
            let link = pages.appending(path: "task\(task)")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: ".")
        }
        let configuration = """
            daemon off;
            master_process off;
            pid nginx.pid;
            events { worker_connections 4096; }
            http {
                access_log off;
                default_type application/json;
                sendfile on;
                keepalive_timeout 600s;
                keepalive_requests 1000000000;
                open_file_cache max=4096 inactive=600s;
                open_file_cache_valid 600s;
                client_body_temp_path temporary;
                proxy_temp_path temporary;
                fastcgi_temp_path temporary;
                scgi_temp_path temporary;
                uwsgi_temp_path temporary;
                server {
                    listen 127.0.0.1:\(port) backlog=1024;
                    root pages;
                }
            }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
    }
}
