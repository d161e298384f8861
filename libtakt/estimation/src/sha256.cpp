#include "sha256.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>

#include "takt/base/int128.hpp"

namespace takt::estimation {

namespace {

using Word = std::uint32_t;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the
/// square roots of the first 8: found by integer search rather than copied.
struct Constants {
  std::array<Word, 64> rounds{};
  std::array<Word, 8> start{};
};

/// floor(2^32 times the root of `value`), modulo 2^32.
constexpr Word fraction_of_root(unsigned value, int degree) {
  using Wide = UInt128;
  std::uint64_t root = 0;  // below 2^36
  for (int bit = 35; bit >= 0; --bit) {
    const std::uint64_t trial = root | (std::uint64_t{1} << bit);
    // trial^degree <= value * 2^(32 degree); both sides fit 128 bits.
    Wide power = trial;
    for (int i = 1; i < degree; ++i) power *= trial;
    if (power <= static_cast<Wide>(value) << (32 * degree)) root = trial;
  }
  return static_cast<Word>(root);
}

constexpr Constants make_constants() {
  Constants constants;
  unsigned prime = 1;
  for (std::size_t i = 0; i < constants.rounds.size(); ++i) {
    bool is_prime = false;
    while (!is_prime) {
      ++prime;
      is_prime = true;
      for (unsigned divisor = 2; divisor * divisor <= prime; ++divisor) {
        if (prime % divisor == 0) is_prime = false;
      }
    }
    constants.rounds[i] = fraction_of_root(prime, 3);
    if (i < constants.start.size()) constants.start[i] = fraction_of_root(prime, 2);
  }
  return constants;
}

constexpr Constants constants = make_constants();

class Digest {
 public:
  void block(const unsigned char* bytes) {
    std::array<Word, 64> schedule{};
    for (std::size_t i = 0; i < 16; ++i) {
      schedule[i] = static_cast<Word>(bytes[4 * i]) << 24 |
                    static_cast<Word>(bytes[4 * i + 1]) << 16 |
                    static_cast<Word>(bytes[4 * i + 2]) << 8 | static_cast<Word>(bytes[4 * i + 3]);
    }
    for (std::size_t i = 16; i < 64; ++i) {
      const Word early = schedule[i - 15];
      const Word late = schedule[i - 2];
      schedule[i] = schedule[i - 16] + schedule[i - 7] +
                    (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3)) +
                    (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const Word first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & f) ^ (~e & g)) + constants.rounds[i] + schedule[i];
      const Word second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<Word, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
  }

  [[nodiscard]] const std::array<Word, 8>& state() const { return state_; }

 private:
  std::array<Word, 8> state_ = constants.start;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t at = 0;
  for (; at + 64 <= bytes.size(); at += 64) digest.block(data + at);
  // The rest, a bit, zeros, and the length in bits: one block or two.
  std::array<unsigned char, 128> tail{};
  const std::size_t rest = bytes.size() - at;
  for (std::size_t i = 0; i < rest; ++i) tail[i] = data[at + i];
  tail[rest] = 0x80;
  const std::size_t size = rest < 56 ? 64 : 128;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[size - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  }
  for (std::size_t block = 0; block < size; block += 64) digest.block(tail.data() + block);
  std::string text;
  for (const Word word : digest.state()) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace takt::estimation
