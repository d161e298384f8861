#pragma once

#include <cstddef>
#include <filesystem>
#include <memory_resource>

#include "takt/base/error.hpp"

namespace takt::viewer {

/// Memory in files without a name, for what may be larger than the machine's memory: the kernel
/// writes parts of it to disk when memory is needed for something else. The files vanish with their
/// containers, and with the process. A container takes as much disk as it has been written to, so
/// that one may reserve far more than it will need.
///
/// Throws std::bad_alloc if the folder takes no file. A disk that is full ends the process
/// (SIGBUS): watch free_space().
class FileMemory final : public std::pmr::memory_resource {
 public:
  explicit FileMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* place, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::filesystem::path folder_;
};

/// Where a document is made: in memory, for a page, or on disk, for `takt serve`.
class Storage {
 public:
  /// In memory: a page holds this many runs. More would make a page that no browser opens.
  static constexpr std::size_t page_runs = std::size_t{2} << 20;
  /// On disk: numbers of rows are 31 bits wide in the viewer.
  static constexpr std::size_t most_runs = std::size_t{1} << 28;
  /// Bytes that a disk keeps free.
  static constexpr std::uintmax_t reserve = std::uintmax_t{512} << 20;

  /// In memory.
  Storage() : memory_(std::pmr::get_default_resource()) {}
  /// On disk: `files` holds what is needed meanwhile; the document's tables become files of
  /// `folder`. `files` outlives the storage.
  Storage(FileMemory& files, std::filesystem::path folder)
      : memory_(&files), folder_(std::move(folder)), runs_(most_runs) {}

  [[nodiscard]] std::pmr::memory_resource* memory() const { return memory_; }
  /// Where the tables are; empty if they are kept in memory.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] bool on_disk() const { return !folder_.empty(); }
  /// How many runs, messages and the like are kept.
  [[nodiscard]] std::size_t runs() const { return runs_; }

  /// Room for so many more elements, which costs nothing on disk. Growing would copy them.
  template <typename Vector>
  void prepare(Vector& vector, std::size_t elements) const {
    if (on_disk()) {
      vector.reserve(elements);
    }
  }

  /// Error: the disk is nearly full.
  [[nodiscard]] Result<void> check_space() const;

 private:
  std::pmr::memory_resource* memory_;
  std::filesystem::path folder_;
  std::size_t runs_ = page_runs;
};

}  // namespace takt::viewer
