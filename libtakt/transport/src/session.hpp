#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cipher.hpp"
#include "takt/link/number_window.hpp"
#include "takt/transport/key.hpp"
#include "wire.hpp"

namespace takt::transport {

/// A random number that was never used before.
[[nodiscard]] wire::Nonce make_nonce();

/// Writes, and checks, the bytes of a hello that prove that its writer has the key.
void authenticate(const Key& key, std::span<std::byte> hello);
[[nodiscard]] bool is_authentic(const Key& key, std::span<const std::byte> hello);

/// One session between two processes: its keys, and which of its packets have come. Nobody without
/// the key can write a packet of it, and no packet counts twice.
class Session {
 public:
  /// `mine` and `theirs` are different. Nobody else uses `packets` until the session ends.
  Session(PacketCipher& packets, Cipher cipher, const Key& key, const wire::Nonce& mine,
          const wire::Nonce& theirs);

  /// Seals the body, which stands at its place in `packet`; writes the header before it and the tag
  /// behind it.
  void seal(std::span<std::byte> packet);

  enum class Verdict : std::uint8_t { genuine, forged, replayed };
  /// Opens a packet in place; `body` is then its decrypted body.
  [[nodiscard]] Verdict open(std::span<std::byte> packet, std::uint64_t counter,
                             std::span<std::byte>& body);

 private:
  PacketCipher& packets_;
  std::uint64_t sent_ = 0;
  link::NumberWindow received_;
};

}  // namespace takt::transport
