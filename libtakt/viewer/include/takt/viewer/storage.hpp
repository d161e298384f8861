#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "takt/base/error.hpp"

namespace takt::viewer {

/// The disk is full, or fails. Says where, and why. Does not leave this module: what fills a
/// storage runs within until_full().
class StorageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns what `work` returns. Error: the disk is full, or fails.
template <typename Work>
auto until_full(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const StorageError& failure) {
    return error("{}", failure.what());
  }
}

/// Fills a storage step by step, until that fails for the first time.
class StorageWriter {
 public:
  template <typename Step>
  void operator()(Step step) {
    if (result_) {
      result_ = until_full([&]() -> Result<void> {
        step();
        return {};
      });
    }
  }
  /// Error: the disk was full, or failed. Nothing has been kept since.
  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  Result<void> result_;
};

/// Where a document is made: in memory, for a page, or on disk, for `takt serve`.
class Storage {
 public:
  /// In memory: a page holds this many runs. More would make a page that no browser opens.
  static constexpr std::size_t page_runs = std::size_t{2} << 20;
  /// On disk: numbers of rows are 31 bits wide in the viewer.
  static constexpr std::size_t most_runs = std::size_t{1} << 28;

  /// In memory.
  Storage() = default;
  /// In memory, with room for so many runs.
  static Storage in_memory(std::size_t runs) {
    Storage storage;
    storage.runs_ = runs;
    return storage;
  }
  /// On disk: the document's tables become files of `folder`, which also holds what is needed
  /// meanwhile, in files without a name.
  explicit Storage(std::filesystem::path folder) : folder_(std::move(folder)), runs_(most_runs) {}

  /// Where the tables are; empty if they are kept in memory.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] bool on_disk() const { return !folder_.empty(); }
  /// How many runs, messages and the like are kept.
  [[nodiscard]] std::size_t runs() const { return runs_; }

 private:
  std::filesystem::path folder_;
  std::size_t runs_ = page_runs;
};

/// Bytes whose place can grow without being copied: in memory, or in a file without a name, which
/// the kernel moves to disk when memory is needed for something else. The file vanishes with the
/// place, and with the process.
class Room {
 public:
  explicit Room(const Storage& storage) : folder_(storage.folder()) {}
  ~Room();
  Room(Room&& other) noexcept;
  Room& operator=(Room&& other) noexcept;
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// Makes room for at least so many bytes; new ones are 0. On disk the space is taken now: a file
  /// that has less of it than was mapped ends the process by a signal (SIGBUS) once it is written
  /// to. Throws StorageError if the disk is full, std::bad_alloc without memory.
  void grow(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void take_space(std::size_t bytes);

  std::filesystem::path folder_;
  int file_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace takt::viewer
