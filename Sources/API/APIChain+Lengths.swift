// One `and` for each length: with a parameter pack, the type checker takes exponential time when a handler follows the
// chain. It then often picks the `and` of `APIOperation`, which nests the tuples. That one is disfavored, so that it is
// not tried once a flat chain fits. `APIOperation.ValueCall` makes the type checker finish the chain before handlers.
// With both, a handler that prints the sum of six values takes 0.1 s; without, it fails after 23 s.

extension APIChain {
    /// Returns a chain of 3 values; `next` is sent last.
    public func and<A, B, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, Next.Value)> where Value == (A, B) {
        adding(next) { ($0.0, $0.1, $1) }
    }

    /// Returns a chain of 4 values; `next` is sent last.
    public func and<A, B, C, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, Next.Value)> where Value == (A, B, C) {
        adding(next) { ($0.0, $0.1, $0.2, $1) }
    }

    /// Returns a chain of 5 values; `next` is sent last.
    public func and<A, B, C, D, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, Next.Value)> where Value == (A, B, C, D) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $1) }
    }

    /// Returns a chain of 6 values; `next` is sent last.
    public func and<A, B, C, D, E, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, Next.Value)> where Value == (A, B, C, D, E) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
    }

    /// Returns a chain of 7 values; `next` is sent last.
    public func and<A, B, C, D, E, F, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, F, Next.Value)> where Value == (A, B, C, D, E, F) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $1) }
    }

    /// Returns a chain of 8 values; `next` is sent last.
    public func and<A, B, C, D, E, F, G, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, F, G, Next.Value)> where Value == (A, B, C, D, E, F, G) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $1) }
    }

    /// Returns a chain of 9 values; `next` is sent last.
    public func and<A, B, C, D, E, F, G, H, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, F, G, H, Next.Value)> where Value == (A, B, C, D, E, F, G, H) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7, $1) }
    }

    /// Returns a chain of 10 values; `next` is sent last.
    public func and<A, B, C, D, E, F, G, H, I, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, F, G, H, I, Next.Value)> where Value == (A, B, C, D, E, F, G, H, I) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7, $0.8, $1) }
    }

    /// Returns a chain of 11 values; `next` is sent last.
    public func and<A, B, C, D, E, F, G, H, I, J, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, F, G, H, I, J, Next.Value)> where Value == (A, B, C, D, E, F, G, H, I, J) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7, $0.8, $0.9, $1) }
    }

    /// Returns a chain of 12 values; `next` is sent last.
    public func and<A, B, C, D, E, F, G, H, I, J, K, Next: APIOperation>(
        _ next: Next
    ) -> APIChain<(A, B, C, D, E, F, G, H, I, J, K, Next.Value)> where Value == (A, B, C, D, E, F, G, H, I, J, K) {
        adding(next) { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $0.6, $0.7, $0.8, $0.9, $0.10, $1) }
    }
}
