#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "message.hpp"
#include "takt/base/error.hpp"

namespace takt::perfetto {

/// A Perfetto trace that grows packet by packet.
class PacketFile {
 public:
  explicit PacketFile(std::filesystem::path path)
      : path_(std::move(path)), file_(path_, std::ios::binary) {}

  void add(const Message& packet);
  /// Error: the file could not be written.
  [[nodiscard]] Result<void> close();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
  Message waiting_;
};

}  // namespace takt::perfetto
