#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "takt/base/error.hpp"

namespace takt::capture::ctf {

/// Where traces go. Files are named by their paths within the recording.
class Storage {
 public:
  virtual ~Storage() = default;

  /// Appends a whole packet, or the metadata, to a file. `lasting`: it is worth more than newer
  /// packets that are not lasting. False: no part of it was stored; written() says why. May be
  /// called by several threads.
  [[nodiscard]] virtual bool append(const std::filesystem::path& file,
                                    std::span<const std::byte> bytes, bool lasting) = 0;
  /// Error: something could not be written.
  [[nodiscard]] virtual Result<void> written() const = 0;
  /// Whether packets that are not lasting may be dropped later.
  [[nodiscard]] virtual bool forgets() const = 0;
};

/// Stores everything on disk up to the first failure: later packets would stand behind a gap.
class Files : public Storage {
 public:
  explicit Files(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] bool append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                            bool lasting) override;
  [[nodiscard]] Result<void> written() const override;
  [[nodiscard]] bool forgets() const override { return false; }
  /// Ends the writing, as if it had failed.
  void fail(Error error);

 private:
  std::filesystem::path root_;
  mutable std::mutex mutex_;  // guards what follows
  Result<void> written_;
};

/// Keeps in memory what is lasting and the newest part of the rest.
class Newest : public Storage {
 public:
  /// `limit`: bytes of what is not lasting.
  explicit Newest(std::size_t limit) : limit_(limit) {}

  [[nodiscard]] bool append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                            bool lasting) override;
  [[nodiscard]] Result<void> written() const override { return {}; }
  [[nodiscard]] bool forgets() const override { return true; }
  /// Writes what is kept now into a directory. Error: it cannot be written.
  [[nodiscard]] Result<void> write(const std::filesystem::path& root) const;

 private:
  struct Packet {
    std::filesystem::path file;
    std::vector<std::byte> bytes;
  };

  std::size_t limit_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::filesystem::path, std::vector<std::byte>> lasting_;
  std::size_t lasting_size_ = 0;
  std::deque<Packet> newest_;
  std::size_t newest_size_ = 0;
};

}  // namespace takt::capture::ctf
