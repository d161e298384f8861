#include "session.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace takt::transport {

namespace {

static_assert(crypto_auth_BYTES == wire::authentication_bytes);
static_assert(crypto_auth_KEYBYTES == std::tuple_size_v<Key>);
static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == std::tuple_size_v<Key>);
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == wire::tag_bytes);

const unsigned char* octets(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
unsigned char* octets(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

using AeadNonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

AeadNonce nonce_of(std::uint64_t counter) {
  AeadNonce nonce{};
  for (std::size_t i = 0; i < sizeof counter; ++i) {
    nonce[4 + i] = static_cast<unsigned char>(counter >> (8 * i));
  }
  return nonce;
}

constexpr std::size_t hello_text = wire::hello_bytes - wire::authentication_bytes;

}  // namespace

void authenticate(const Key& key, std::span<std::byte> hello) {
  assert(hello.size() == wire::hello_bytes);
  crypto_auth(octets(hello.data() + hello_text), octets(hello.data()), hello_text, key.data());
}

bool is_authentic(const Key& key, std::span<const std::byte> hello) {
  assert(hello.size() == wire::hello_bytes);
  return crypto_auth_verify(octets(hello.data() + hello_text), octets(hello.data()), hello_text,
                            key.data()) == 0;
}

Session::Session(const Key& key, const wire::Nonce& mine, const wire::Nonce& theirs) {
  assert(mine != theirs);
  const bool first = mine < theirs;
  std::array<unsigned char, 2 * wire::nonce_bytes> nonces{};
  std::ranges::copy(std::min(mine, theirs), nonces.begin());
  std::ranges::copy(std::max(mine, theirs), nonces.begin() + wire::nonce_bytes);
  std::array<unsigned char, 2 * std::tuple_size_v<Key>> keys{};
  crypto_generichash(keys.data(), keys.size(), nonces.data(), nonces.size(), key.data(),
                     key.size());
  std::memcpy((first ? sending_ : receiving_).data(), keys.data(), std::tuple_size_v<Key>);
  std::memcpy((first ? receiving_ : sending_).data(), keys.data() + std::tuple_size_v<Key>,
              std::tuple_size_v<Key>);
}

void Session::seal(std::span<std::byte> packet) {
  wire::write_sealed_header(++sent_, packet.data());
  std::byte* body = packet.data() + wire::sealed_header_bytes;
  const std::size_t bytes = packet.size() - wire::sealed_header_bytes - wire::tag_bytes;
  crypto_aead_chacha20poly1305_ietf_encrypt(octets(body), nullptr, octets(body), bytes,
                                            octets(packet.data()), wire::sealed_header_bytes,
                                            nullptr, nonce_of(sent_).data(), sending_.data());
}

Session::Verdict Session::open(std::span<std::byte> packet, std::uint64_t counter,
                               std::span<std::byte>& body) {
  const std::span<std::byte> sealed = packet.subspan(wire::sealed_header_bytes);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(octets(sealed.data()), nullptr, nullptr,
                                                octets(sealed.data()), sealed.size(),
                                                octets(packet.data()), wire::sealed_header_bytes,
                                                nonce_of(counter).data(), receiving_.data()) != 0) {
    return Verdict::forged;
  }
  if (received_.seen(counter)) return Verdict::replayed;
  received_.add(counter);
  body = sealed.first(sealed.size() - wire::tag_bytes);
  return Verdict::genuine;
}

}  // namespace takt::transport
