#include "recorder.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "../process.hpp"
#include "../selection.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/environment.hpp"
#include "takt/capture/ring/selection_text.hpp"
#include "takt/capture/ring/writer.hpp"

namespace takt::capture::ring {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// The recorder looks by itself instead of being woken: so a traced thread makes no system call, and
// a ring has room for what happens meanwhile.
constexpr auto look_interval = 10ms;
// An interrupted recording lacks the events of this time at most.
constexpr auto flush_interval = 1s;
// How long a thread may take to complete an event that it has begun, when the recording ends.
constexpr auto last_patience = 200ms;
constexpr auto last_look_interval = 1ms;

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::start(ctf::Storage& storage, const Options& options) {
  const auto events = TAKT_TRY(select(options.events));
  std::unique_ptr<Recorder> recorder(new Recorder(storage, events, options));
  const auto admit = [recorder = recorder.get()](pid_t process, const Descriptor& memory) {
    return recorder->admit(process, memory);
  };
  auto gate = TAKT_TRY(options.only_started ? Gate::open(admit) : Gate::open_for_user(admit));
  recorder->gate_ = std::move(gate);
  if (options.only_started) {
    recorder->gate_address_ = recorder->gate_->address();
  }
  // After the gate is open, so that no process is missed.
  recorder->search_ =
      std::make_unique<Search>(admitting(options.only_started, *recorder->gate_, admit),
                               watching_capabilities | writing_capabilities);
  recorder->drainer_ = std::thread([recorder = recorder.get()] { recorder->run(); });
  return recorder;
}

Recorder::Recorder(ctf::Storage& storage, std::uint64_t events, const Options& options)
    : storage_(storage),
      events_(events),
      selection_(selection_text(options.selection)),
      buffer_size_(options.buffer_size),
      beginning_(now()) {}

Recorder::~Recorder() { end(); }

std::map<std::string, std::string> Recorder::environment() const {
  std::map<std::string, std::string> variables;
  if (!gate_address_.empty()) variables.emplace(gate_variable, gate_address_);
  if (buffer_size_ != 0) variables.emplace(buffer_variable, std::to_string(buffer_size_));
  return variables;
}

Result<Losses> Recorder::losses() {
  const std::scoped_lock lock(mutex_);
  Losses all = ended_;
  all.late_processes += (gate_ ? gate_->late() : 0) + (search_ ? search_->late() : 0);
  for (const auto& [ring, source] : sources_) {
    all = all + source->losses();
  }
  return all;
}

Result<void> Recorder::hand_over(const fs::path& /*directory*/) {
  drain(true);
  return {};
}

bool Recorder::records(pid_t process) {
  const std::scoped_lock lock(mutex_);
  return known_.contains(process);
}

Result<Losses> Recorder::stop() {
  end();
  return ended_;
}

bool Recorder::admit(pid_t process, const Descriptor& memory) {
  const auto ring = identity_of(memory);
  const std::scoped_lock lock(mutex_);
  known_.insert(process);
  if (sources_.contains(ring)) {
    return false;  // the gate and the search both find it
  }
  auto reader = Reader::attach(memory.get(), events_, beginning_, selection_);
  if (!reader) {
    ended_.unrecorded_processes += unreadable_.add(memory) ? 1U : 0U;
    return false;
  }
  const auto name = fmt::format("{}-{}-{}", file_name_of(process), process, admitted_++);
  auto trace =
      Source::create(process, std::move(*reader), storage_, fs::path("ring") / name, events_);
  if (!trace) {
    ++ended_.unrecorded_processes;
    return false;
  }
  sources_.emplace(ring, std::move(*trace));
  return true;
}

void Recorder::run() {
  pthread_setname_np(pthread_self(), "takt-recorder");
  try_to_keep_only_capabilities(writing_capabilities);
  auto next_flush = std::chrono::steady_clock::now() + flush_interval;
  while (!stopping_) {
    const bool flush = std::chrono::steady_clock::now() >= next_flush;
    drain(flush);
    if (flush) {
      next_flush += flush_interval;
    }
    std::this_thread::sleep_for(look_interval);
  }
  finish();
}

void Recorder::drain(bool flush) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(sources_, [&](const auto& entry) {
    const auto& source = entry.second;
    const bool ended = source->has_ended();
    ended ? source->drain_remains() : source->drain();
    if (flush || ended) {
      source->flush();
    }
    if (ended) {
      ended_ = ended_ + source->losses();
    }
    return ended;
  });
}

void Recorder::finish() {
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [ring, source] : sources_) {
      source->disable();
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + last_patience;
  for (;;) {
    drain(false);
    {
      const std::scoped_lock lock(mutex_);
      if (std::ranges::all_of(sources_, [](const auto& entry) { return entry.second->empty(); })) {
        break;
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      break;
    }
    std::this_thread::sleep_for(last_look_interval);
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& [ring, source] : sources_) {
    source->drain_remains();
    source->flush();
    ended_ = ended_ + source->losses();
  }
  sources_.clear();
}

void Recorder::end() {
  if (search_) {
    search_->close();
    const std::scoped_lock lock(mutex_);
    ended_.late_processes += search_->late();
    search_.reset();
  }
  if (gate_) {
    gate_->close();
    const std::scoped_lock lock(mutex_);
    ended_.late_processes += gate_->late();
    gate_.reset();
  }
  stopping_ = true;
  if (drainer_.joinable()) {
    drainer_.join();
  }
}

}  // namespace takt::capture::ring
