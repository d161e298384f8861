#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "takt/base/error.hpp"

namespace takt::ctf {

/// How long bytes are kept where there is not room for all.
enum class Kept {
  among_newest,     // until newer ones need the room
  while_room,       // as long as their trace, if there is room for so much; else among the newest
  with_their_trace  // as long as their trace, without which nothing else of it can be read
};

/// Where traces go. Each has a directory. Files are named by their paths within the recording.
class Storage {
 public:
  virtual ~Storage() = default;

  /// Appends a whole packet, or the metadata, to a file. False: no part of it was stored; written()
  /// says why. May be called by several threads.
  [[nodiscard]] virtual bool append(const std::filesystem::path& file,
                                    std::span<const std::byte> bytes, Kept kept) = 0;
  /// Nothing more will come for the trace in a directory. May be called by several threads.
  virtual void complete(const std::filesystem::path& /*directory*/) {}
  /// Error: something could not be written.
  [[nodiscard]] virtual Result<void> written() const = 0;
  /// Whether packets that are kept among the newest may be dropped later.
  [[nodiscard]] virtual bool forgets() const = 0;
};

/// Stores everything on disk up to the first failure: later packets would stand behind a gap.
class Files : public Storage {
 public:
  explicit Files(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] bool append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                            Kept kept) override;
  [[nodiscard]] Result<void> written() const override;
  [[nodiscard]] bool forgets() const override { return false; }
  /// Ends the writing, as if it had failed.
  void fail(Error error);

 private:
  std::filesystem::path root_;
  mutable std::mutex mutex_;  // guards what follows
  Result<void> written_;
};

/// Keeps in memory the newest packets, and beside them the metadata and objects of traces: of one
/// that is complete, until nothing is left that is as old as its end.
class Newest : public Storage {
 public:
  /// More than the objects of any robot.
  static constexpr std::size_t default_lasting_limit = std::size_t{256} << 20;

  /// `limit`: bytes of the newest packets. `lasting_limit`: bytes beside them of traces that are
  /// complete, and as many of those that are not; of these, metadata is kept beyond it, too.
  explicit Newest(std::size_t limit, std::size_t lasting_limit = default_lasting_limit)
      : limit_(limit), lasting_limit_(lasting_limit) {}

  [[nodiscard]] bool append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                            Kept kept) override;
  void complete(const std::filesystem::path& directory) override;
  [[nodiscard]] Result<void> written() const override { return {}; }
  [[nodiscard]] bool forgets() const override { return true; }
  /// Packets that were to be kept longer and were dropped for want of room: those that were kept
  /// among the newest instead, and for each complete trace whose metadata and objects were dropped
  /// though newer packets did not need its room, one.
  [[nodiscard]] std::uint64_t lost_packets() const;
  /// Writes what is kept now into a directory. Error: it cannot be written.
  [[nodiscard]] Result<void> write(const std::filesystem::path& root) const;

 private:
  /// The metadata and objects of a trace, which are kept beside the newest packets.
  struct Lasting {
    std::map<std::filesystem::path, std::vector<std::byte>> files;
    std::size_t size = 0;
  };
  struct Packet {
    std::filesystem::path file;
    std::vector<std::byte> bytes;
    Kept kept;  // with_their_trace: no packet, but the end of the trace in the directory `file`
  };

  void drop_oldest();

  std::size_t limit_;
  std::size_t lasting_limit_;
  mutable std::mutex mutex_;                          // guards what follows
  std::map<std::filesystem::path, Lasting> lasting_;  // by the directory of the trace
  std::size_t lasting_size_ = 0;                      // of traces that are not complete
  std::size_t complete_size_ = 0;                     // of those that are
  std::uint64_t lost_packets_ = 0;
  std::deque<Packet> newest_;
  std::size_t newest_size_ = 0;
};

}  // namespace takt::ctf
