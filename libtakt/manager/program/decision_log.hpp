#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::manager {

/// The file of a log of decisions (takt/manager/log.hpp). A replay needs every decision from the
/// first, so the log ends with the first line that cannot be written.
class DecisionLog {
 public:
  /// Replaces the file. Error: it cannot be made.
  [[nodiscard]] static Result<DecisionLog> create(std::string path);

  /// Adds a line, with its line break. Error: it cannot be written, and neither it nor any later
  /// one is in the log. Later calls only count.
  [[nodiscard]] Result<void> append(std::string_view line);
  /// How many lines are not in the log.
  [[nodiscard]] std::uint64_t missing() const { return missing_; }

 private:
  DecisionLog(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
  std::uint64_t missing_ = 0;
};

}  // namespace takt::manager
