#pragma once

#include <filesystem>
#include <utility>

#include "takt/base/error.hpp"

namespace takt::events {

/// A new directory under $TMPDIR that goes with its owner, with everything in it.
class TemporaryDirectory {
 public:
  [[nodiscard]] static Result<TemporaryDirectory> create();

  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace takt::events
