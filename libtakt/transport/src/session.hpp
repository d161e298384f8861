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

/// The key both ends keep for hellos, as bytes that prove who wrote one.
void authenticate(const Key& key, std::span<std::byte> hello);
[[nodiscard]] bool is_authentic(const Key& key, std::span<const std::byte> hello);

/// The keys of one session between two processes, and which packets of it have come. Nobody without
/// the key can write a packet of it, and no packet counts twice.
class Session {
 public:
  /// `mine` and `theirs` are different. `packets` is this session's until its end.
  Session(PacketCipher& packets, Cipher cipher, const Key& key, const wire::Nonce& mine,
          const wire::Nonce& theirs);

  /// Seals the body that stands behind the header, in place; `packet` has room for all of it.
  void seal(std::span<std::byte> packet);

  enum class Verdict : std::uint8_t { genuine, forged, replayed };
  /// Opens a packet in place; `body` is what was inside.
  [[nodiscard]] Verdict open(std::span<std::byte> packet, std::uint64_t counter,
                             std::span<std::byte>& body);

 private:
  PacketCipher& packets_;
  std::uint64_t sent_ = 0;
  link::NumberWindow received_;
};

}  // namespace takt::transport
