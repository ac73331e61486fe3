/// Responses in the order of their last use.
struct MemoryCacheQueue {
    private let head = MemoryCacheLink()
    private(set) var count = 0
    /// The number of bytes of all responses.
    var byteCount = 0

    /// The response that was not used for the longest time.
    var oldest: MemoryCacheResponse? { head.oldest }

    mutating func insert(_ response: MemoryCacheResponse) {
        head.insert(response.queueLink)
        count += 1
        byteCount += response.byteCount
    }

    mutating func remove(_ response: MemoryCacheResponse) {
        response.queueLink.unlink()
        count -= 1
        byteCount -= response.byteCount
    }

    func moveToFront(_ response: MemoryCacheResponse) {
        response.queueLink.unlink()
        head.insert(response.queueLink)
    }
}
