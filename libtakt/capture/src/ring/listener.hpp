#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../gate.hpp"
#include "discovery.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/capture/listener.hpp"
#include "takt/capture/recording.hpp"

namespace takt::capture::ring {

/// Takes the events of programs from their rings: of programs that are started with environment(),
/// or of every process that has Takt's libtracetools.so and that this user may look into. Needs no
/// privilege. Processes of this user are heard from their first event on, others within seconds,
/// and are counted as late.
class Listener final : public capture::Listener {
 public:
  /// `only_started` as in Options. Errors: another recorder listens to the processes of this user.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> start(bool only_started);

  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() override;

  [[nodiscard]] std::map<std::string, std::string> environment() const override;
  /// Takes at most a ring's worth of each process.
  std::vector<pid_t> drain(const Take& take) override;
  [[nodiscard]] Losses losses() override;
  [[nodiscard]] std::vector<std::pair<pid_t, Losses>> losses_by_process() override;

 private:
  struct Source;

  Listener();
  /// Whether it is a ring that is not read yet and can be.
  bool admit(pid_t process, const Descriptor& memory);

  std::mutex mutex_;  // guards what follows; processes are admitted by other threads
  std::vector<std::unique_ptr<Source>> sources_;
  Unreadable unreadable_;
  Losses ended_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Search> search_;
  bool only_started_ = false;
  const std::uint64_t beginning_;
};

}  // namespace takt::capture::ring
