#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "../gate.hpp"
#include "discovery.hpp"
#include "source.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/capture/recording.hpp"

namespace takt::capture::ring {

/// Records the rings of processes into one CTF trace per process, `ring/<program>-<process>`.
class Recorder : public Backend {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> start(ctf::Storage& storage,
                                                               const Options& options);

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override;

  [[nodiscard]] std::map<std::string, std::string> environment() const override;
  [[nodiscard]] Result<Losses> losses() override;
  [[nodiscard]] Result<void> hand_over(const std::filesystem::path& directory) override;
  [[nodiscard]] bool records(pid_t process) override;
  [[nodiscard]] Result<Losses> stop() override;

 private:
  Recorder(ctf::Storage& storage, std::uint64_t events, const Options& options);

  /// Whether it is a ring that is not recorded yet and can be.
  bool admit(pid_t process, const Descriptor& memory);
  void run();
  void drain(bool flush);
  void finish();
  void end();

  ctf::Storage& storage_;
  std::uint64_t events_;
  const std::string selection_;  // as selection_text() has it
  const std::uint64_t buffer_size_;
  const std::uint64_t beginning_;
  std::string gate_address_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // guards what follows
  std::map<Identity, std::unique_ptr<Source>> sources_;
  std::uint64_t admitted_ = 0;
  std::set<pid_t> known_;  // recorded, or counted as unrecorded
  Unreadable unreadable_;
  Losses ended_;  // of processes that are no longer in the list
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Search> search_;
  std::thread drainer_;
};

}  // namespace takt::capture::ring
