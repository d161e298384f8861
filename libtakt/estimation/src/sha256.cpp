#include "sha256.hpp"

#include <sodium.h>

#include <array>

namespace takt::estimation {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> digits{};
  return sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
}

}  // namespace takt::estimation
