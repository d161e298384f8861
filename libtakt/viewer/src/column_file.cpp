#include "column_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace takt::viewer {

ColumnFile::~ColumnFile() {
  if (!values_.empty()) {
    munmap(const_cast<std::int64_t*>(values_.data()), values_.size_bytes());
  }
}

Result<ColumnFile> ColumnFile::open(const std::filesystem::path& folder, std::string_view table,
                                    std::string_view column) {
  const auto path = folder / fmt::format("{}.{}", table, column);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    const int reason = errno;
    if (file >= 0) {
      close(file);
    }
    return error("{}: cannot be read: {}", path.string(), std::strerror(reason));
  }
  ColumnFile opened;
  const auto rows = static_cast<std::size_t>(status.st_size) / sizeof(std::int64_t);
  if (rows > 0) {
    void* const place = mmap(nullptr, rows * sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (place != MAP_FAILED) {
      opened.values_ = {static_cast<const std::int64_t*>(place), rows};
    }
  }
  close(file);
  if (opened.size() != rows) {
    return error("{}: cannot be mapped into memory", path.string());
  }
  return opened;
}

Result<void> open_columns(const std::filesystem::path& folder, std::string_view table,
                          std::initializer_list<std::pair<std::string_view, ColumnFile*>> columns) {
  for (const auto& [name, column] : columns) {
    auto opened = ColumnFile::open(folder, table, name);
    if (!opened) {
      return tl::unexpected(opened.error());
    }
    *column = std::move(*opened);
    if (column->size() != columns.begin()->second->size()) {
      return error("{}: the table {} is damaged; remove the folder", folder.string(), table);
    }
  }
  return {};
}

}  // namespace takt::viewer
