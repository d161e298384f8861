#include "takt/capture/ring/listener.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "../gate.hpp"
#include "../process.hpp"
#include "../selection.hpp"
#include "discovery.hpp"
#include "takt/capture/environment.hpp"
#include "takt/capture/ring/reader.hpp"
#include "takt/capture/ring/writer.hpp"

namespace takt::capture::ring {

struct Listener::Source {
  pid_t process = 0;
  std::string program;
  Descriptor life;  // readable when the process has ended
  std::unique_ptr<Reader> reader;
  std::uint64_t start = 0;

  [[nodiscard]] bool has_ended() const {
    pollfd state{life.get(), POLLIN, 0};
    return !life || poll(&state, 1, 0) > 0;
  }

  void drain(const Take& take, bool ended) {
    while (auto object = reader->next_object()) {
      object->time = std::max(object->time, start);
      take(process, program, *object);
    }
    for (std::uint64_t left = slot_count; left != 0; --left) {
      if (const auto event = reader->next()) {
        take(process, program, *event);
      } else if (!ended || !reader->pass_incomplete()) {
        return;
      }
    }
  }

  [[nodiscard]] Losses losses() const {
    Losses losses;
    losses.malformed_events = reader->malformed();
    losses.discarded_events = reader->dropped_objects();
    for (std::size_t entry = 0; entry <= thread_count; ++entry) {
      losses.discarded_events += reader->dropped(entry);
    }
    return losses;
  }
};

Result<std::unique_ptr<Listener>> Listener::start(bool only_started) {
  std::unique_ptr<Listener> listener(new Listener);
  listener->only_started_ = only_started;
  const auto admit = [made = listener.get()](pid_t process, const Descriptor& memory) {
    made->admit(process, memory.get());
  };
  auto gate = only_started ? Gate::open(admit) : Gate::open_for_user(admit);
  if (!gate) return tl::unexpected(gate.error());
  listener->gate_ = std::move(*gate);
  if (!only_started) {  // after the gate is open, so that no process is missed
    for (const auto& [process, memory] : running_rings()) listener->admit(process, memory.get());
  }
  return listener;
}

Listener::Listener() : beginning_(now()) {}

Listener::~Listener() {
  if (gate_) gate_->close();
}

std::map<std::string, std::string> Listener::environment() const {
  if (!only_started_) return {};
  return {{gate_variable, gate_->address()}};
}

void Listener::admit(pid_t process, int memory) {
  static const std::vector<std::string> patterns{"ros2:*", "takt:*"};
  auto reader = Reader::attach(memory, select(patterns).value(), beginning_);
  const std::scoped_lock lock(mutex_);
  if (!reader) {
    ++ended_.unrecorded_processes;
    return;
  }
  auto source = std::make_unique<Source>();
  source->process = process;
  source->program = file_name_of(process);
  source->life = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  source->start = (*reader)->start();
  source->reader = std::move(*reader);
  sources_.push_back(std::move(source));
}

std::vector<pid_t> Listener::drain(const Take& take) {
  const std::scoped_lock lock(mutex_);
  std::vector<pid_t> gone;
  std::erase_if(sources_, [&](const auto& source) {
    const bool ended = source->has_ended();
    gid_size_ = source->reader->gid_size();
    source->drain(take, ended);
    if (!ended) return false;
    ended_ = ended_ + source->losses();
    gone.push_back(source->process);
    return true;
  });
  return gone;
}

Losses Listener::losses() {
  const std::scoped_lock lock(mutex_);
  Losses all = ended_;
  all.late_processes += gate_->late();
  for (const auto& source : sources_) all = all + source->losses();
  return all;
}

}  // namespace takt::capture::ring
