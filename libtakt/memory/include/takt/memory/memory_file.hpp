#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::memory {

/// Mapped pages of memory, unmapped at the end of this object.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(std::span<std::byte> pages) : pages_(pages) {}
  Mapping(Mapping&& other) noexcept : pages_(std::exchange(other.pages_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(pages_, other.pages_);
    return *this;
  }
  ~Mapping();

  [[nodiscard]] std::span<std::byte> pages() const { return pages_; }

 private:
  std::span<std::byte> pages_;
};

/// Memory that this process alone writes, and that everybody with its descriptor may read.
class OwnMemory {
 public:
  /// Error: the kernel's reason.
  static Result<OwnMemory> make(std::size_t bytes);

  [[nodiscard]] std::span<std::byte> bytes() const { return mapping_.pages(); }
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  OwnMemory(Descriptor file, Mapping mapping)
      : file_(std::move(file)), mapping_(std::move(mapping)) {}

  Descriptor file_;
  Mapping mapping_;
};

/// Memory that another process has made as OwnMemory. That process may be hostile: the content may
/// change at any time, but all of it stays readable.
class PeerMemory {
 public:
  PeerMemory() = default;
  /// None: it is not such memory, or has another size than `least` to `most` bytes.
  static std::optional<PeerMemory> map(const Descriptor& file, std::size_t least, std::size_t most);

  [[nodiscard]] std::span<const std::byte> bytes() const { return mapping_.pages(); }

 private:
  explicit PeerMemory(Mapping mapping) : mapping_(std::move(mapping)) {}

  Mapping mapping_;
};

}  // namespace takt::memory
