#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"

namespace takt::viewer {

// A column on disk: blocks of 256 values each, packed in as few bits as the differences from the
// block's least value need; then where each block is; then how many values there are
// (docs/viewer-data.md, "On disk"). Any value is found in a few steps, and neighbours are close.

static_assert(std::endian::native == std::endian::little);

inline constexpr std::size_t block_rows = 256;

/// Where a block is, and how its values are packed.
struct Block {
  /// Added to each packed value.
  std::int64_t base = 0;
  /// Words of eight bytes from the beginning of the file.
  std::uint32_t place = 0;
  /// -1 is packed as 0, and the others as one more than their difference: "none" among large
  /// numbers does not make them all large.
  std::uint16_t has_none = 0;
  /// 0 to 56, or 64.
  std::uint16_t bits = 0;
};
static_assert(sizeof(Block) == 16);

/// The last bytes of a column file.
struct ColumnEnd {
  std::uint64_t rows = 0;
  std::uint64_t mark = 0;

  static constexpr std::uint64_t version_1 = 0x316c6f43'746b6154;  // "TaktCol1"
};

/// Writes a column.
class ColumnWriter {
 public:
  ColumnWriter(const std::filesystem::path& folder, std::string_view table,
               std::string_view column);
  ~ColumnWriter();
  ColumnWriter(ColumnWriter&& other) noexcept;
  ColumnWriter& operator=(ColumnWriter&&) = delete;

  void add(std::int64_t value) {
    values_[rows_ % block_rows] = value;
    if (++rows_ % block_rows == 0) {
      pack(block_rows);
    }
  }
  /// Writes the rest. Error: some of it could not be written.
  [[nodiscard]] Result<void> close();

 private:
  void pack(std::size_t rows);
  void write(const void* bytes, std::size_t length);
  void flush();

  std::string path_;
  int file_ = -1;
  /// Why the file could not be opened or written; 0: all is well.
  int failure_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t written_ = 0;
  std::array<std::int64_t, block_rows> values_{};
  std::vector<Block> blocks_;
  std::string buffer_;
};

/// A column on disk, mapped into memory for as long as it lives.
class ColumnFile {
 public:
  ColumnFile() = default;
  ~ColumnFile();
  ColumnFile(ColumnFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})),
        blocks_(std::exchange(other.blocks_, nullptr)),
        rows_(std::exchange(other.rows_, 0)) {}
  ColumnFile& operator=(ColumnFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(blocks_, other.blocks_);
    std::swap(rows_, other.rows_);
    return *this;
  }
  ColumnFile(const ColumnFile&) = delete;
  ColumnFile& operator=(const ColumnFile&) = delete;

  /// FOLDER/TABLE.COLUMN. Looks at each block once. Error: there is no such file, or it is damaged.
  static Result<ColumnFile> open(const std::filesystem::path& folder, std::string_view table,
                                 std::string_view column);

  [[nodiscard]] std::int64_t operator[](std::size_t row) const {
    const Block block = blocks_[row / block_rows];
    const std::size_t bit = row % block_rows * block.bits;
    const std::size_t place = std::size_t{block.place} * sizeof(std::uint64_t);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + place + bit / 8, sizeof value);
    if (block.bits < 64) {
      value = value >> (bit % 8) & ((std::uint64_t{1} << block.bits) - 1);
    }
    if (block.has_none != 0 && value-- == 0) {
      return -1;
    }
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(block.base) + value);
  }
  /// The value at a row that another column names; -1 (none) if there is no such row, which a
  /// damaged file may name.
  [[nodiscard]] std::int64_t at(std::int64_t row) const {
    return has(row) ? (*this)[static_cast<std::size_t>(row)] : -1;
  }
  [[nodiscard]] bool has(std::int64_t row) const {
    return row >= 0 && static_cast<std::size_t>(row) < rows_;
  }
  [[nodiscard]] std::size_t size() const { return rows_; }
  /// The first row of [low, high) whose value is at least `value`; values do not decrease there.
  [[nodiscard]] std::size_t lower_bound(std::int64_t value, std::size_t low,
                                        std::size_t high) const {
    return first_row(low, high, [&](std::size_t row) { return (*this)[row] >= value; });
  }
  [[nodiscard]] std::size_t lower_bound(std::int64_t value) const {
    return lower_bound(value, 0, size());
  }

  /// The first row of [low, high) for which `is` holds; it has to hold for all rows after that,
  /// too.
  template <typename Is>
  static std::size_t first_row(std::size_t low, std::size_t high, Is is) {
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (is(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

 private:
  /// Whether all values of all blocks are before the blocks' own place.
  [[nodiscard]] bool is_sound() const;

  std::span<const std::byte> bytes_;
  const Block* blocks_ = nullptr;
  std::size_t rows_ = 0;
};

/// The columns of a table on disk by name. Error: one is missing, or they differ in length.
[[nodiscard]] Result<void> open_columns(
    const std::filesystem::path& folder, std::string_view table,
    std::initializer_list<std::pair<std::string_view, ColumnFile*>> columns);

}  // namespace takt::viewer
