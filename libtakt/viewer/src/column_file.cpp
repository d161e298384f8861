#include "column_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "takt/base/try.hpp"
#include "takt/viewer/stored_document.hpp"

namespace takt::viewer {
namespace {

/// Bytes that are written at once.
constexpr std::size_t buffered = std::size_t{64} << 10;

/// Follows the last value, because a value is read as the eight bytes from where it begins.
constexpr std::array<char, sizeof(std::uint64_t)> padding{};

constexpr std::size_t alignment = alignof(Block);

std::string path_of(const std::filesystem::path& folder, std::string_view table,
                    std::string_view column) {
  return (folder / fmt::format("{}.{}", table, column)).string();
}

}  // namespace

ColumnWriter::ColumnWriter(const std::filesystem::path& folder, std::string_view table,
                           std::string_view column)
    : path_(path_of(folder, table, column)),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      failure_(file_ < 0 ? errno : 0) {}

ColumnWriter::~ColumnWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

ColumnWriter::ColumnWriter(ColumnWriter&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      failure_(other.failure_),
      rows_(other.rows_),
      written_(other.written_),
      values_(other.values_),
      blocks_(std::move(other.blocks_)),
      buffer_(std::move(other.buffer_)) {}

void ColumnWriter::pack(std::size_t rows) {
  const std::span<const std::int64_t> values(values_.data(), rows);
  Block block;
  block.place = static_cast<std::uint32_t>((written_ + buffer_.size()) / sizeof(std::uint64_t));
  block.base = INT64_MAX;
  std::int64_t most = INT64_MIN;
  bool has_none = false;
  for (const std::int64_t value : values) {
    if (value == -1) {
      has_none = true;
    } else {
      block.base = std::min(block.base, value);
      most = std::max(most, value);
    }
  }
  if (most == INT64_MIN || block.base == 0) {
    // All values are -1, or -1 would be the least value anyway.
    block.base = has_none ? -1 : block.base;
    most = std::max(most, block.base);
    has_none = false;
  }
  block.has_none = has_none;
  const auto base = static_cast<std::uint64_t>(block.base);
  const auto code = [&](std::int64_t value) {
    const std::uint64_t difference = static_cast<std::uint64_t>(value) - base;
    return !has_none ? difference : value == -1 ? 0 : difference + 1;
  };
  const auto needed = static_cast<int>(std::bit_width(code(most)));
  // A value of 57 to 63 bits might not lie within eight bytes.
  block.bits = static_cast<std::uint16_t>(needed <= 56 ? needed : 64);
  std::uint64_t word = 0;
  unsigned used = 0;
  for (const std::int64_t value : values) {
    const std::uint64_t coded = code(value);
    word |= coded << used;
    used += block.bits;
    if (used >= 64) {
      buffer_.append(reinterpret_cast<const char*>(&word), sizeof word);
      used -= 64;
      word = used == 0 ? 0 : coded >> (block.bits - used);
    }
  }
  if (used > 0) {
    buffer_.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  blocks_.push_back(block);
  if (buffer_.size() >= buffered) {
    flush();
  }
}

void ColumnWriter::write(const void* bytes, std::size_t length) {
  const char* from = static_cast<const char*>(bytes);
  while (length > 0 && failure_ == 0) {
    const ssize_t done = ::write(file_, from, length);
    if (done > 0) {
      from += done;
      length -= static_cast<std::size_t>(done);
    } else if (done < 0 && errno != EINTR) {
      failure_ = errno;
    }
  }
}

void ColumnWriter::flush() {
  write(buffer_.data(), buffer_.size());
  written_ += buffer_.size();
  buffer_.clear();
}

Result<void> ColumnWriter::close() {
  if (rows_ % block_rows != 0) {
    pack(rows_ % block_rows);
  }
  buffer_.append(padding.data(), padding.size());
  flush();
  write(blocks_.data(), blocks_.size() * sizeof(Block));
  const ColumnEnd end{rows_, ColumnEnd::version_1};
  write(&end, sizeof end);
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && failure_ == 0) {
    failure_ = errno;
  }
  if (failure_ != 0) {
    return error("{}: cannot be written: {}", path_, std::strerror(failure_));
  }
  return {};
}

ColumnFile::~ColumnFile() {
  if (!bytes_.empty()) {
    munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

bool ColumnFile::is_sound() const {
  const auto values =
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(blocks_) - bytes_.data());
  for (std::size_t row = 0; row < rows_; row += block_rows) {
    const Block& block = blocks_[row / block_rows];
    const std::size_t last = std::min(block_rows, rows_ - row) - 1;
    const std::size_t end = std::size_t{block.place} * sizeof(std::uint64_t) +
                            last * block.bits / 8 + sizeof(std::uint64_t);
    if ((block.bits > 56 && block.bits != 64) || end > values) {
      return false;
    }
  }
  return true;
}

Result<ColumnFile> ColumnFile::open(const std::filesystem::path& folder, std::string_view table,
                                    std::string_view column) {
  const std::string path = path_of(folder, table, column);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  void* place = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0) {
    place = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file, 0);
  }
  const int reason = errno;
  if (file >= 0) {
    close(file);
  }
  if (place == MAP_FAILED) {
    return error("{}: cannot be read: {}", path, std::strerror(reason));
  }
  ColumnFile opened;
  const auto size = static_cast<std::size_t>(status.st_size);
  opened.bytes_ = {static_cast<const std::byte*>(place), size};
  ColumnEnd end;
  if (size >= sizeof end) {
    std::memcpy(&end, opened.bytes_.data() + size - sizeof end, sizeof end);
  }
  const std::uint64_t blocks = end.rows / block_rows + (end.rows % block_rows == 0 ? 0 : 1);
  const bool has_blocks = end.mark == ColumnEnd::version_1 && size % alignment == 0 &&
                          blocks <= (size - sizeof end) / sizeof(Block);
  if (has_blocks) {
    opened.rows_ = end.rows;
    opened.blocks_ = reinterpret_cast<const Block*>(opened.bytes_.data() + size - sizeof end -
                                                    blocks * sizeof(Block));
  }
  if (!has_blocks || !opened.is_sound()) {
    return error("{}: damaged; remove the folder", path);
  }
  return opened;
}

Result<std::vector<std::int64_t>> read_column(const std::filesystem::path& folder,
                                              std::string_view table, std::string_view column) {
  const auto opened = TAKT_TRY(ColumnFile::open(folder, table, column));
  std::vector<std::int64_t> values(opened.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    values[row] = opened[row];
  }
  return values;
}

Result<void> open_columns(const std::filesystem::path& folder, std::string_view table,
                          std::initializer_list<std::pair<std::string_view, ColumnFile*>> columns) {
  for (const auto& [name, column] : columns) {
    auto opened = TAKT_TRY(ColumnFile::open(folder, table, name));
    *column = std::move(opened);
    if (column->size() != columns.begin()->second->size()) {
      return error("{}: the table {} is damaged; remove the folder", folder.string(), table);
    }
  }
  return {};
}

}  // namespace takt::viewer
