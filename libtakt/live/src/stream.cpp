#include "takt/live/stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <utility>

#include "decode.hpp"

namespace takt::live {

namespace {

using events::Event;

constexpr std::chrono::milliseconds visibility{20};

Instant now() {
  return Instant{
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

}  // namespace

Result<std::unique_ptr<Stream>> Stream::start(capture::Tracer tracer, bool only_started) {
  return capture::Listener::start(tracer, only_started).map([](auto listener) {
    return std::unique_ptr<Stream>(new Stream(std::move(listener)));
  });
}

Stream::Stream(std::unique_ptr<capture::Listener> listener) : listener_(std::move(listener)) {
  host_ = threads_.host(host_name(), boot());
  threads_.tell_ends();
  inputs_.push_back({.path = "what runs now", .bytes = 0, .fingerprint = {}});
  processors_ = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  epoch_offset_ =
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()) -
      now().time_since_epoch();
}

void Stream::keep(pid_t process, std::size_t gid_size, const capture::Event& given) {
  Event event;
  event.time = Instant{bounded(Duration{static_cast<std::int64_t>(given.time)})};
  const auto [running, is_new] = running_.try_emplace(process, Running{heard_ + 1});
  if (is_new) ++heard_;
  running->second.last = std::max(running->second.last, event.time);
  event.thread = threads_.thread(host_, {process, running->second.heard},
                                 static_cast<std::int64_t>(given.thread), given.thread_name.data());
  events::Payload payload;
  if (decode(given.number, given.payload, gid_size, event, payload)) {
    event.payload = static_cast<std::uint32_t>(payloads_.size());
    payloads_.push_back(std::move(payload));
  }
  pending_.push_back(event);
}

bool Stream::read(events::Batch& batch) {
  batch.clear();
  const Instant until = now() - visibility;
  const auto gone = listener_->drain([this](pid_t process, std::size_t gid_size,
                                            const auto& event) { keep(process, gid_size, event); });
  ended_programs_ += gone.size();
  for (const pid_t process : gone) {
    const auto running = running_.find(process);
    if (running == running_.end()) continue;
    threads_.end(threads_.process(host_, {process, running->second.heard}), running->second.last);
    running_.erase(running);
  }
  std::ranges::stable_sort(pending_, {}, &Event::time);
  const auto end = std::ranges::upper_bound(pending_, until, {}, &Event::time);
  batch.events.assign(pending_.begin(), end);
  pending_.erase(pending_.begin(), end);

  // The payloads of what stays move to the front of a new list.
  std::vector<events::Payload> kept;
  const auto move_payload = [&](Event& event, std::vector<events::Payload>& to) {
    if (event.payload == events::no_payload) return;
    to.push_back(std::move(payloads_[event.payload]));
    event.payload = static_cast<std::uint32_t>(to.size() - 1);
  };
  for (Event& event : batch.events) move_payload(event, batch.payloads);
  for (Event& event : pending_) move_payload(event, kept);
  payloads_ = std::move(kept);

  const capture::Losses losses = listener_->losses();
  losses_.discarded_events = losses.discarded_events + losses.malformed_events;
  losses_.discarded_packets = losses.unrecorded_processes + losses.late_processes;
  for (const auto& [process, lost] : listener_->losses_by_process()) {
    const auto running = running_.find(process);
    if (running == running_.end()) continue;
    lost_[threads_.process(host_, {process, running->second.heard})] =
        lost.discarded_events + lost.malformed_events;
  }
  total_ += batch.events.size();
  return !batch.events.empty();
}

}  // namespace takt::live
