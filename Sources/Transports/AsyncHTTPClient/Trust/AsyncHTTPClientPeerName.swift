#if AsyncHTTPClient
import NIOCore
import NIOSSL

/// The check that a server's certificate is for the host of a URL, and is not weak, on top of that of NIOSSL.
///
/// For any host name, NIOSSL also accepts a certificate with the address to which the name was resolved, and one with
/// the name as its common name only. Through a proxy, it compares the proxy's address. Here, a name counts only for a
/// URL with that name, and an address only for a URL with that address.
///
/// Source: RFC 9525 §2, §6.3 and §6.4, https://www.rfc-editor.org/rfc/rfc9525.html#section-6.3
enum AsyncHTTPClientPeerName {
    /// Returns why the server of a connection must not receive requests for a host; `nil` if it may.
    ///
    /// Without TLS there is nothing to check, and the TLS of Apple's Network.framework checks names itself.
    ///
    /// - Parameters:
    ///   - host: the name or the address in the URL.
    ///   - channel: the connection, or an HTTP/2 stream on it.
    /// - Returns: `NIOSSLExtraError.failedToValidateHostname` or ``WeakCertificate``.
    static func fault(_ host: String, on channel: any Channel) -> (any Error)? {
        let pipeline = (channel.parent ?? channel).pipeline.syncOperations
        guard (try? pipeline.handler(type: NIOSSLClientHandler.self)) != nil else { return nil }
        guard let certificate = try? pipeline.nioSSL_peerCertificate() else {
            return NIOSSLExtraError.failedToValidateHostname
        }
        var names: [String] = []
        var addresses: [[UInt8]] = []
        for name in certificate._subjectAlternativeNames() {
            switch name.nameType {
            case .dnsName: names.append(String(decoding: name.contents, as: UTF8.self))
            case .ipAddress: addresses.append(Array(name.contents))
            default: break
            }
        }
        guard isValid(host, names: names, addresses: addresses) else {
            return NIOSSLExtraError.failedToValidateHostname
        }
        return WeakCertificate.fault(of: certificate)
    }

    /// Returns whether a certificate with these names and addresses is for a host.
    ///
    /// A wildcard is one whole label in front of at least two others.
    static func isValid(_ host: String, names: [String], addresses: [[UInt8]]) -> Bool {
        if let address = try? SocketAddress(ipAddress: host, port: 0) {
            return addresses.contains { bytes in
                guard let other = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0) else {
                    return false
                }
                return other.ipAddress == address.ipAddress
            }
        }
        let host = (host.hasSuffix(".") ? host.dropLast() : host[...]).lowercased()
        return !host.isEmpty && names.contains { isMatch($0.lowercased(), host) }
    }

    private static func isMatch(_ pattern: String, _ host: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return pattern == host }
        let parent = pattern.dropFirst(2)
        guard let dot = host.firstIndex(of: "."), dot > host.startIndex else { return false }
        return parent.contains(".") && host[dot...].dropFirst() == parent
    }
}
#endif
