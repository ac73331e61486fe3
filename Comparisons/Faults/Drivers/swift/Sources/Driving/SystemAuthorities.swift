import Synchronization

/// The authorities of the system, for clients that accept no others.
///
/// On Linux, URLSession reads them from a file. The command of its driver starts the process in a mount namespace of
/// its own, in which the authority of the cases can be mounted over that file.
package enum SystemAuthorities {
    private static let bundle = "/etc/ssl/certs/ca-certificates.crt"

    /// Whether the authority of the cases can take the place of the system's.
    package static let areReplaceable = mount(bundle)

    private static func mount(_ file: String) -> Bool {
        Driver.output(of: "sh", "-c", "mount --bind '\(file)' \(bundle) 2>&1 && echo mounted") == "mounted"
    }

    /// Makes the authority of a case the only one; all cases of a process have the same.
    package static func replace(for example: Case) {
        guard let authority = example.authority else { return }
        isReplaced.withLock { isReplaced in
            if !isReplaced { isReplaced = mount(authority) }
        }
    }

    private static let isReplaced = Mutex(false)
}
