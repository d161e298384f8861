#include "takt/transport/key.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "takt/base/descriptor.hpp"

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
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) {
    return error("{}: {}", path, std::strerror(errno));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return error("{}: others may read this key; take their rights away with chmod 600", path);
  }
  // The digits and the end of their line. More is no key, however long it is.
  std::array<char, 2 * std::tuple_size_v<Key> + 2> bytes_read{};
  std::string_view text;
  while (text.size() < bytes_read.size()) {
    const ssize_t count =
        ::read(file.get(), bytes_read.data() + text.size(), bytes_read.size() - text.size());
    if (count < 0) return error("{}: {}", path, std::strerror(errno));
    if (count == 0) break;
    text = std::string_view(bytes_read.data(), text.size() + static_cast<std::size_t>(count));
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
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
