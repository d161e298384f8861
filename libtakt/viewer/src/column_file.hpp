#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "takt/base/error.hpp"

namespace takt::viewer {

/// A column of a table on disk (table.hpp), mapped into memory for as long as it lives.
class ColumnFile {
 public:
  ColumnFile() = default;
  ~ColumnFile();
  ColumnFile(ColumnFile&& other) noexcept : values_(std::exchange(other.values_, {})) {}
  ColumnFile& operator=(ColumnFile&& other) noexcept {
    std::swap(values_, other.values_);
    return *this;
  }
  ColumnFile(const ColumnFile&) = delete;
  ColumnFile& operator=(const ColumnFile&) = delete;

  /// FOLDER/TABLE.COLUMN. Error: there is no such file.
  static Result<ColumnFile> open(const std::filesystem::path& folder, std::string_view table,
                                 std::string_view column);

  [[nodiscard]] std::int64_t operator[](std::size_t row) const { return values_[row]; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] std::span<const std::int64_t> values() const { return values_; }
  /// The first row of [low, high) whose value is at least `value`; values do not decrease there.
  [[nodiscard]] std::size_t lower_bound(std::int64_t value, std::size_t low,
                                        std::size_t high) const {
    const auto part = values_.subspan(low, high - low);
    return low + static_cast<std::size_t>(std::ranges::lower_bound(part, value) - part.begin());
  }
  [[nodiscard]] std::size_t lower_bound(std::int64_t value) const {
    return lower_bound(value, 0, size());
  }

 private:
  std::span<const std::int64_t> values_;
};

/// The columns of a table on disk by name. Error: one is missing, or they differ in length.
[[nodiscard]] Result<void> open_columns(
    const std::filesystem::path& folder, std::string_view table,
    std::initializer_list<std::pair<std::string_view, ColumnFile*>> columns);

}  // namespace takt::viewer
