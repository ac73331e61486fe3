#if Redis
import CHiredis
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A connection to Redis whose methods block, each until a deadline.
///
/// After an error, the connection must be released: a late reply would be taken for that of a later request.
final class RedisConnection {
    /// The bytes of replies that a connection accepts for one request.
    ///
    /// Sixteen variants with the largest header fields, or a piece of a body, are less.
    static let maximumReplyByteCount = 8 << 20

    private let context: UnsafeMutablePointer<redisContext>
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// Connects within a timeout, which does not include the time for resolving a host name.
    init(host: String, port: Int, timeout: Duration) throws(RedisError) {
        let (seconds, attoseconds) = timeout.components
        let limit = timeval(
            tv_sec: .init(clamping: seconds),
            tv_usec: .init(clamping: attoseconds / 1_000_000_000_000)
        )
        guard let context = redisConnectWithTimeout(host, Int32(clamping: port), limit) else {
            throw RedisError(.unavailable)
        }
        guard context.pointee.err == 0 else {
            let code = context.pointee.err == REDIS_ERR_IO ? errno : 0
            redisFree(context)
            throw code == ETIMEDOUT
                ? RedisError(.timedOut) : RedisError(.unavailable, code == 0 ? nil : "errno \(code)")
        }
        self.context = context
        _ = fcntl(context.pointee.fd, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        var isOn: Int32 = 1
        _ = setsockopt(context.pointee.fd, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit { redisFree(context) }

    /// Whether the server has closed the connection, or sent something without a request.
    var isStale: Bool {
        var descriptor = pollfd(fd: context.pointee.fd, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) != 0
    }

    /// Sends commands and returns their replies.
    func perform(
        _ request: RedisRequest,
        before deadline: ContinuousClock.Instant
    ) throws(RedisError) -> [RedisReply] {
        try send(request.bytes, before: deadline)
        var replies: [RedisReply] = []
        var received = 0
        while replies.count < request.count {
            var reply: UnsafeMutableRawPointer?
            guard redisReaderGetReply(context.pointee.reader, &reply) == REDIS_OK,
                received <= Self.maximumReplyByteCount
            else {
                freeReplyObject(reply)
                throw RedisError(.corrupt, "unexpected reply")
            }
            if let reply {
                replies.append(RedisReply(reply.assumingMemoryBound(to: redisReply.self)))
                freeReplyObject(reply)
            } else {
                received += try receive(before: deadline)
            }
        }
        return replies
    }

    // MARK: Socket

    /// Sends bytes without raising `SIGPIPE`, unlike the functions of hiredis.
    private func send(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws(RedisError) {
        #if canImport(Darwin)
        let flags = Int32(MSG_DONTWAIT)
        #else
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        #endif
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                guard let start = rest.baseAddress else { return 0 }
                #if canImport(Darwin)
                return Darwin.send(context.pointee.fd, start, rest.count, flags)
                #elseif canImport(Glibc)
                return Glibc.send(context.pointee.fd, start, rest.count, flags)
                #elseif canImport(Musl)
                return Musl.send(context.pointee.fd, start, rest.count, flags)
                #else
                return Android.send(context.pointee.fd, start, rest.count, flags)
                #endif
            }
            if count >= 0 {
                sent += count
            } else {
                try wait(for: POLLOUT, before: deadline, after: errno)
            }
        }
    }

    /// Waits for bytes and passes them to the parser; returns how many there were.
    private func receive(before deadline: ContinuousClock.Instant) throws(RedisError) -> Int {
        while true {
            try wait(for: POLLIN, before: deadline, after: EAGAIN)
            let count = recv(context.pointee.fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count != 0 else { throw RedisError(.unavailable, "the connection was closed") }
            if count > 0 {
                let isFed = buffer.withUnsafeBytes { bytes in
                    let start = bytes.bindMemory(to: CChar.self).baseAddress
                    return redisReaderFeed(context.pointee.reader, start, count) == REDIS_OK
                }
                guard isFed else { throw RedisError(.corrupt, "unexpected reply") }
                return count
            }
            guard errno == EAGAIN || errno == EINTR else { throw RedisError(.unavailable, "errno \(errno)") }
        }
    }

    /// Waits until the socket is ready; throws if the code of the last system call is not one that passes.
    private func wait(
        for events: some BinaryInteger,
        before deadline: ContinuousClock.Instant,
        after code: Int32
    ) throws(RedisError) {
        guard code == EAGAIN || code == EINTR else { throw RedisError(.unavailable, "errno \(code)") }
        var descriptor = pollfd(fd: context.pointee.fd, events: Int16(events), revents: 0)
        while true {
            let rest = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            guard rest > 0 else { throw RedisError(.timedOut) }
            let result = poll(&descriptor, 1, Int32(min(rest.rounded(.up), 1_000_000)))
            if result > 0 { return }
            guard result == 0 || errno == EINTR else { throw RedisError(.unavailable, "errno \(errno)") }
        }
    }
}
#endif
