#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "takt/base/error.hpp"

namespace takt::events {

/// A file's bytes in memory, read as they are touched. The file must not become shorter meanwhile.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
  /// Gives back the memory of the whole pages in [begin, end), which will not be read again.
  void forget(std::uint64_t begin, std::uint64_t end) const;

 private:
  explicit MappedFile(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::span<const std::uint8_t> bytes_;
};

}  // namespace takt::events
