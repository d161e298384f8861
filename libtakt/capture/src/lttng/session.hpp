#pragma once

#include <lttng/lttng.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../gate.hpp"
#include "../if_killed.hpp"
#include "../ring/discovery.hpp"
#include "../ring/held_selection.hpp"
#include "../ring/objects.hpp"
#include "daemon.hpp"
#include "takt/capture/recording.hpp"
#include "takt/ctf/storage.hpp"

namespace takt::capture::lttng {

/// A recording session of the LTTng session daemon, destroyed with this object. Its name starts
/// with "takt-" and this process's id, so that a later recording can clear away what a killed
/// recorder left; sessions of others are never touched.
class Session : public Backend {
 public:
  /// Creates the session and starts to trace into `directory` or, for snapshots, into memory. The
  /// object logs of processes that already run with Takt's tracetools go to `storage`; for
  /// snapshots those of all processes are kept, since LTTng would forget what is in them.
  [[nodiscard]] static Result<std::unique_ptr<Session>> start(
      const std::filesystem::path& directory, ctf::Storage& storage, const Options& options);

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override;

  [[nodiscard]] std::map<std::string, std::string> environment() const override;
  [[nodiscard]] Result<Losses> losses() override;
  [[nodiscard]] Result<void> hand_over(const std::filesystem::path& directory) override;
  [[nodiscard]] bool records(pid_t process) override;
  [[nodiscard]] std::uint64_t needed_space() const override;
  [[nodiscard]] Result<Losses> stop() override;

 private:
  struct HandleDeleter {
    void operator()(lttng_handle* handle) const { lttng_destroy_handle(handle); }
  };
  struct TrackerDeleter {
    void operator()(lttng_process_attr_tracker_handle* tracker) const {
      lttng_process_attr_tracker_handle_destroy(tracker);
    }
  };

  Session(std::uint64_t events, const Options& options);

  Result<void> create(std::string name, const std::filesystem::path& directory);
  Result<void> add_channel();
  /// Has the programs load LTTng that have run since before its daemon did.
  void ask_running_programs();
  Result<void> record_older_objects(ctf::Storage& storage);
  void keep_objects(std::size_t size);
  void search_for_objects();
  Result<void> enable(const std::string& event);
  Result<void> add_contexts();
  Result<void> track_only_started();
  Result<Losses> read_losses();
  void admit_no_more();

  Daemon daemon_;  // first: is needed as long as there is anything else
  std::uint64_t events_;
  bool snapshot_;
  std::string selection_;               // as ring::selection_text() has it
  std::uint64_t sub_buffer_size_ = 0;   // bytes
  std::uint64_t sub_buffer_count_ = 0;  // for each processor
  std::uint64_t start_ = 0;             // CLOCK_MONOTONIC, nanoseconds
  std::string name_;                    // empty when there is no session to destroy
  std::unique_ptr<lttng_handle, HandleDeleter> handle_;
  std::unique_ptr<lttng_process_attr_tracker_handle, TrackerDeleter> tracker_;
  std::uint64_t unrecorded_processes_ = 0;
  std::vector<ring::HeldSelection> selections_;  // in the recorded programs' rings
  Losses object_losses_;                         // of the object logs of older processes
  std::uint64_t late_processes_ = 0;             // but for those of the gate while it is open
  std::unique_ptr<IfKilled> guard_;              // see Daemon::after_kill
  std::mutex knowing_;                           // guards the next member
  std::set<pid_t> known_;  // passed the gate: recorded, or counted as unrecorded
  std::mutex control_;     // liblttng-ctl keeps its connection in a global variable
  std::unique_ptr<ctf::Newest> kept_objects_;  // in snapshots
  std::unique_ptr<ring::Objects> objects_;     // in snapshots; writes into the member above
  // Last: their threads use the members above.
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<ring::Search> search_;
};

}  // namespace takt::capture::lttng
