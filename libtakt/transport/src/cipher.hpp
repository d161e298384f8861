#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "takt/base/error.hpp"
#include "takt/transport/key.hpp"

namespace takt::transport {

/// How packets are encrypted and authenticated.
enum class Cipher : std::uint8_t {
  /// Quick on every processor.
  chacha20_poly1305,
  /// Three times as quick where the processor has instructions for it; slow and less safe
  /// elsewhere.
  aes_256_gcm,
};

/// Whether this processor has instructions for AES.
[[nodiscard]] bool has_aes();

/// Error: libcrypto does not offer these ciphers, as where it is restricted to those of FIPS 140.
/// `library`: null for the process's own.
[[nodiscard]] Result<void> check_ciphers(OSSL_LIB_CTX* library = nullptr);

/// Seals the packets of one direction and opens those of the other. Takes its memory when it is
/// made, once check_ciphers() has found no fault.
class PacketCipher {
 public:
  PacketCipher();

  /// Seals and opens with these keys from now on. Each key is used for one session only.
  void use(Cipher cipher, const Key& sending, const Key& receiving);

  /// Encrypts `text` in place and writes the tag behind it. No number may be used twice with a key.
  void seal(std::uint64_t number, std::span<const std::byte> header, std::span<std::byte> text,
            std::span<std::byte> tag);
  /// Decrypts `text` in place. False: it was not written by somebody with the key.
  [[nodiscard]] bool open(std::uint64_t number, std::span<const std::byte> header,
                          std::span<std::byte> text, std::span<const std::byte> tag);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const;
  };
  using Context = std::unique_ptr<EVP_CIPHER_CTX, Free>;
  /// The contexts of one cipher. There is a pair for each cipher, so that a change allocates
  /// nothing.
  struct Pair {
    Context sending;
    Context receiving;
  };
  static Pair make(const EVP_CIPHER* cipher);

  Pair chacha_;
  Pair aes_;
  Pair* used_ = &chacha_;
};

}  // namespace takt::transport
