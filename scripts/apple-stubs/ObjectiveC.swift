// The runtime of Objective-C, as far as its names could collide with those of the sources: Foundation re-exports it.
// https://developer.apple.com/documentation/objectivec/objective-c-runtime
public typealias Method = OpaquePointer
public typealias Ivar = OpaquePointer
public typealias Category = OpaquePointer
public typealias IMP = OpaquePointer
