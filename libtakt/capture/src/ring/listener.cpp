#include "listener.hpp"

#include <algorithm>
#include <utility>

#include "../life.hpp"
#include "../selection.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/environment.hpp"
#include "takt/capture/ring/reader.hpp"
#include "takt/capture/ring/writer.hpp"

namespace takt::capture::ring {

struct Listener::Source {
  pid_t process;
  Life life;
  Identity ring;
  std::unique_ptr<Reader> reader;
  std::uint64_t start;

  void drain(const Take& take, bool ended) {
    const std::size_t gid_size = reader->gid_size();
    while (auto object = reader->next_object()) {
      object->time = std::max(object->time, start);
      take(process, gid_size, *object);
    }
    for (;;) {
      if (const auto event = reader->next()) {
        take(process, gid_size, *event);
      } else if (!ended || !reader->pass_incomplete()) {
        return;
      }
    }
  }

  [[nodiscard]] Losses losses() const {
    Losses losses;
    losses.malformed_events = reader->malformed();
    losses.discarded_events = reader->dropped_objects() + reader->dropped_by_all();
    return losses;
  }
};

Result<std::unique_ptr<Listener>> Listener::start(bool only_started) {
  std::unique_ptr<Listener> listener(new Listener);
  listener->only_started_ = only_started;
  const auto admit = [made = listener.get()](pid_t process, const Descriptor& memory) {
    return made->admit(process, memory);
  };
  auto gate = TAKT_TRY(only_started ? Gate::open(admit) : Gate::open_for_user(admit));
  listener->gate_ = std::move(gate);
  // After the gate is open, so that no process is missed.
  listener->search_ = std::make_unique<Search>(admitting(only_started, *listener->gate_, admit),
                                               watching_capabilities);
  return listener;
}

Listener::Listener() : beginning_(now()) {}

Listener::~Listener() {
  search_.reset();
  if (gate_) gate_->close();
}

std::map<std::string, std::string> Listener::environment() const {
  if (!only_started_) return {};
  return {{gate_variable, gate_->address()}};
}

bool Listener::admit(pid_t process, const Descriptor& memory) {
  static const std::vector<std::string> patterns{"ros2:*", "takt:*"};
  const auto ring = identity_of(memory);
  const std::scoped_lock lock(mutex_);
  if (std::ranges::any_of(sources_, [&](const auto& source) { return source->ring == ring; })) {
    return false;  // the gate and the search both find it
  }
  auto reader = Reader::attach(memory.get(), select(patterns).value(), beginning_);
  if (!reader) {
    ended_.unrecorded_processes += unreadable_.add(memory) ? 1U : 0U;
    return false;
  }
  const std::uint64_t start = (*reader)->start();
  sources_.push_back(
      std::make_unique<Source>(Source{process, Life(process), ring, std::move(*reader), start}));
  return true;
}

std::vector<pid_t> Listener::drain(const Take& take) {
  const std::scoped_lock lock(mutex_);
  std::vector<pid_t> gone;
  std::erase_if(sources_, [&](const auto& source) {
    const bool ended = source->life.has_ended();
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
  all.late_processes += gate_->late() + search_->late();
  for (const auto& source : sources_) all = all + source->losses();
  return all;
}

std::vector<std::pair<pid_t, Losses>> Listener::losses_by_process() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::pair<pid_t, Losses>> all;
  for (const auto& source : sources_) all.emplace_back(source->process, source->losses());
  return all;
}

}  // namespace takt::capture::ring
