#include "session.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "octets.hpp"

namespace takt::transport {

namespace {

static_assert(crypto_auth_BYTES == wire::authentication_bytes);
static_assert(crypto_auth_KEYBYTES == std::tuple_size_v<Key>);

constexpr std::size_t hello_text = wire::hello_bytes - wire::authentication_bytes;

}  // namespace

wire::Nonce make_nonce() {
  wire::Nonce nonce{};
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

void authenticate(const Key& key, std::span<std::byte> hello) {
  assert(hello.size() == wire::hello_bytes);
  crypto_auth(octets(hello.data() + hello_text), octets(hello.data()), hello_text, key.data());
}

bool is_authentic(const Key& key, std::span<const std::byte> hello) {
  assert(hello.size() == wire::hello_bytes);
  return crypto_auth_verify(octets(hello.data() + hello_text), octets(hello.data()), hello_text,
                            key.data()) == 0;
}

Session::Session(PacketCipher& packets, Cipher cipher, const Key& key, const wire::Nonce& mine,
                 const wire::Nonce& theirs)
    : packets_(packets) {
  assert(mine != theirs);
  const bool first = mine < theirs;
  std::array<unsigned char, 2 * wire::nonce_bytes> nonces{};
  std::ranges::copy(std::min(mine, theirs), nonces.begin());
  std::ranges::copy(std::max(mine, theirs), nonces.begin() + wire::nonce_bytes);
  std::array<unsigned char, 2 * std::tuple_size_v<Key>> keys{};
  crypto_generichash(keys.data(), keys.size(), nonces.data(), nonces.size(), key.data(),
                     key.size());
  Key one{};
  Key other{};
  std::memcpy(one.data(), keys.data(), one.size());
  std::memcpy(other.data(), keys.data() + one.size(), other.size());
  packets_.use(cipher, first ? one : other, first ? other : one);
}

void Session::seal(std::span<std::byte> packet) {
  wire::write_sealed_header(++sent_, packet.data());
  const std::size_t bytes = packet.size() - wire::sealed_header_bytes - wire::tag_bytes;
  packets_.seal(sent_, packet.first(wire::sealed_header_bytes),
                packet.subspan(wire::sealed_header_bytes, bytes), packet.last(wire::tag_bytes));
}

Session::Verdict Session::open(std::span<std::byte> packet, std::uint64_t counter,
                               std::span<std::byte>& body) {
  const std::span<std::byte> text = packet.subspan(
      wire::sealed_header_bytes, packet.size() - wire::sealed_header_bytes - wire::tag_bytes);
  if (!packets_.open(counter, packet.first(wire::sealed_header_bytes), text,
                     packet.last(wire::tag_bytes))) {
    return Verdict::forged;
  }
  if (received_.seen(counter)) return Verdict::replayed;
  received_.add(counter);
  body = text;
  return Verdict::genuine;
}

}  // namespace takt::transport
