// CryptoKit, whose API is that of swift-crypto: https://developer.apple.com/documentation/cryptokit. RSA is not part of
// it, and not of this module either. What only swift-crypto has is not found.
@_exported public import Crypto
