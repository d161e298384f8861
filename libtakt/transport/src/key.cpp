#include "takt/transport/key.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace takt::transport {

Key make_key() {
  [[maybe_unused]] const int ready = sodium_init();
  assert(ready >= 0);
  Key key{};
  randombytes_buf(key.data(), key.size());
  return key;
}

std::string to_text(const Key& key) {
  std::string text(2 * key.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), key.data(), key.size());
  text.pop_back();
  return text;
}

Result<Key> read_key(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return error("{}: {}", path, std::strerror(errno));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return error("{}: others may read this key; take their rights away with chmod 600", path);
  }
  std::string text;
  std::ifstream(path) >> text;
  Key key{};
  std::size_t bytes = 0;
  const char* end = nullptr;
  const bool whole = sodium_hex2bin(key.data(), key.size(), text.data(), text.size(), nullptr,
                                    &bytes, &end) == 0 &&
                     bytes == key.size() && end == text.data() + text.size();
  if (!whole) return error("{}: a key has 64 hexadecimal digits", path);
  return key;
}

}  // namespace takt::transport
