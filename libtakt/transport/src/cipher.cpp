#include "cipher.hpp"

#include <openssl/evp.h>
#include <sodium.h>

#include <array>
#include <cassert>
#include <utility>

#include "octets.hpp"

namespace takt::transport {

namespace {

constexpr std::size_t nonce_bytes = 12;
using AeadNonce = std::array<unsigned char, nonce_bytes>;

AeadNonce nonce_of(std::uint64_t number) {
  AeadNonce nonce{};
  for (std::size_t i = 0; i < sizeof number; ++i) {
    nonce[4 + i] = static_cast<unsigned char>(number >> (8 * i));
  }
  return nonce;
}

int length(std::span<const std::byte> bytes) { return static_cast<int>(bytes.size()); }

}  // namespace

Result<void> check_ciphers(OSSL_LIB_CTX* library) {
  for (const char* name : {"ChaCha20-Poly1305", "AES-256-GCM"}) {
    EVP_CIPHER* const found = EVP_CIPHER_fetch(library, name, nullptr);
    if (found == nullptr) {
      return error(
          "OpenSSL offers no {}, which links are encrypted by; is it restricted by its "
          "configuration "
          "(FIPS)?",
          name);
    }
    EVP_CIPHER_free(found);
  }
  return {};
}

bool has_aes() { return crypto_aead_aes256gcm_is_available() != 0; }

void PacketCipher::Free::operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }

PacketCipher::Pair PacketCipher::make(const EVP_CIPHER* cipher) {
  assert(std::cmp_equal(EVP_CIPHER_get_iv_length(cipher), nonce_bytes) &&
         std::cmp_equal(EVP_CIPHER_get_key_length(cipher), std::tuple_size_v<Key>));
  Pair pair{Context(EVP_CIPHER_CTX_new()), Context(EVP_CIPHER_CTX_new())};
  [[maybe_unused]] const bool made =
      EVP_EncryptInit_ex(pair.sending.get(), cipher, nullptr, nullptr, nullptr) == 1 &&
      EVP_DecryptInit_ex(pair.receiving.get(), cipher, nullptr, nullptr, nullptr) == 1;
  assert(made && "check_ciphers() was asked");
  return pair;
}

PacketCipher::PacketCipher()
    : chacha_(make(EVP_chacha20_poly1305())), aes_(make(EVP_aes_256_gcm())) {}

void PacketCipher::use(Cipher cipher, const Key& sending, const Key& receiving) {
  used_ = cipher == Cipher::aes_256_gcm ? &aes_ : &chacha_;
  [[maybe_unused]] const bool keyed =
      EVP_EncryptInit_ex(used_->sending.get(), nullptr, nullptr, sending.data(), nullptr) == 1 &&
      EVP_DecryptInit_ex(used_->receiving.get(), nullptr, nullptr, receiving.data(), nullptr) == 1;
  assert(keyed);
}

void PacketCipher::seal(std::uint64_t number, std::span<const std::byte> header,
                        std::span<std::byte> text, std::span<std::byte> tag) {
  EVP_CIPHER_CTX* const context = used_->sending.get();
  int written = 0;
  [[maybe_unused]] const bool sealed =
      EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce_of(number).data()) == 1 &&
      EVP_EncryptUpdate(context, nullptr, &written, octets(header.data()), length(header)) == 1 &&
      EVP_EncryptUpdate(context, octets(text.data()), &written, octets(text.data()),
                        length(text)) == 1 &&
      EVP_EncryptFinal_ex(context, octets(tag.data()), &written) == 1 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, length(tag), tag.data()) == 1;
  assert(sealed && "what is too long for it is never given");
}

bool PacketCipher::open(std::uint64_t number, std::span<const std::byte> header,
                        std::span<std::byte> text, std::span<const std::byte> tag) {
  EVP_CIPHER_CTX* const context = used_->receiving.get();
  int written = 0;
  // libcrypto only reads the tag.
  auto* const tag_bytes = const_cast<std::byte*>(tag.data());
  return EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, nonce_of(number).data()) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, length(tag), tag_bytes) == 1 &&
         EVP_DecryptUpdate(context, nullptr, &written, octets(header.data()), length(header)) ==
             1 &&
         EVP_DecryptUpdate(context, octets(text.data()), &written, octets(text.data()),
                           length(text)) == 1 &&
         EVP_DecryptFinal_ex(context, octets(text.data() + text.size()), &written) == 1;
}

}  // namespace takt::transport
