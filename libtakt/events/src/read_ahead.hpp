#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ctf_stream.hpp"
#include "fingerprint.hpp"
#include "mapped_file.hpp"

namespace takt::events {

/// One stream file, decoded a chunk ahead of its reader. Between request() and take() it belongs to
/// the thread that decodes.
class DecodedFile {
 public:
  DecodedFile(MappedFile file, const ctf::TraceContext& trace, std::string name)
      : file_(std::move(file)),
        name_(name),
        trace_(trace),
        stream_(trace, file_.bytes(), std::move(name)) {}

  /// The packets of the file from its start.
  [[nodiscard]] ctf::Stream packets() const { return {trace_, file_.bytes(), name_}; }
  /// Before the first request: passes over the packets that begin at these bytes.
  void leave_out(std::set<std::uint64_t> packets) { stream_.leave_out(std::move(packets)); }

  /// Decodes the chunk that the next take() returns, and gives back the memory of decoded bytes.
  void decode();
  /// Waits for the decoded chunk and swaps it for `chunk`, which is used up.
  void take(ctf::Chunk& chunk);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// ContentHash of the file, when it has been decoded to the end.
  [[nodiscard]] std::uint64_t content() const { return content_.value(); }

 private:
  void hash_up_to(std::uint64_t end);

  MappedFile file_;
  std::string name_;
  const ctf::TraceContext& trace_;
  ContentHash content_;
  ctf::Stream stream_;
  ctf::Chunk ahead_;
  std::uint64_t hashed_ = 0;
  std::uint64_t forgotten_ = 0;
  std::atomic<bool> ready_ = false;
};

/// Threads that decode files in the order of the requests.
class ReadAhead {
 public:
  explicit ReadAhead(std::size_t threads);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  /// Waits for the chunks that are being decoded; requests behind them are dropped.
  ~ReadAhead();

  void request(DecodedFile& file);

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any requested_;
  std::deque<DecodedFile*> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace takt::events
