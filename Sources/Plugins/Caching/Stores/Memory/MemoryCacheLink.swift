/// A place of a response in a ring of links; one link of a ring, its head, has no response.
///
/// Links do not own each other, so that a long ring is not freed recursively. A response is unlinked before it is
/// released, and a head is released only if its ring is empty, or if all rings are released with their content.
final class MemoryCacheLink {
    unowned(unsafe) var response: MemoryCacheResponse?
    private unowned(unsafe) var next: MemoryCacheLink?
    private unowned(unsafe) var previous: MemoryCacheLink?

    init() {
        next = self
        previous = self
    }

    /// Whether the ring of a head has no other link.
    var isEmpty: Bool { next === self }

    /// The response that was inserted first, if this is the head; `nil` if the ring is empty.
    var oldest: MemoryCacheResponse? { previous?.response }

    /// Inserts a link after this one, which is the head.
    func insert(_ link: MemoryCacheLink) {
        link.next = next
        link.previous = self
        next?.previous = link
        next = link
    }

    /// Removes this link from its ring.
    func unlink() {
        next?.previous = previous
        previous?.next = next
        next = self
        previous = self
    }
}
