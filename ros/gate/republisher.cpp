#include "republisher.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <thread>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/executor/announcement.hpp"
#include "takt/executor/decision_trace.hpp"
#include "takt/executor/rcl_result.hpp"
#include "takt/linux/memory.hpp"
#include "takt/linux/punctual.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::gate {

using executor::check;
using std::chrono::milliseconds;

namespace {

/// So close to a release the gate waits for the clock instead of for messages.
constexpr Duration near = milliseconds(1);
/// How often the gate checks whether it must stop.
constexpr Duration patience = milliseconds(50);
/// How many messages the output's queue keeps for readers that are slow or join late, and the queue
/// of the phase's topic.
constexpr std::size_t depth = 16;
/// The most outputs that may wait. With one more, the oldest leaves at once. The input's queue
/// holds as many: a burst may come while the gate waits for the clock or publishes.
constexpr std::size_t most_waiting = 1024;

void sleep_until(Instant when) {
  const std::int64_t time = when.time_since_epoch().count();
  const timespec until{.tv_sec = time / 1'000'000'000, .tv_nsec = time % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace

Republisher::Republisher(const Settings& settings)
    : settings_(settings),
      gate_(settings.slots, settings.period, settings.publish_time, settings.shortest,
            settings.overshoot) {
  if (settings.adapt) adaptation_.emplace(*settings.adapt, settings.slots);
  if (settings.phase_topic || settings.phase_external)
    tracker_.emplace(settings.period, settings.phase_delay);
}

Republisher::~Republisher() {
  if (rcl_wait_set_fini(&wait_set_) != RCL_RET_OK) rcl_reset_error();
}

Result<std::unique_ptr<Republisher>> Republisher::create(const Settings& settings,
                                                         const std::atomic<bool>& stop) {
  std::unique_ptr<Republisher> made(new Republisher(settings));
  TAKT_TRY(made->connect(stop));
  return made;
}

Result<void> Republisher::connect(const std::atomic<bool>& stop) {
  if (settings_.phase_external) {
    external_ = TAKT_TRY(ExternalPhase::open(*settings_.phase_external, settings_.period));
  }
  context_ = TAKT_TRY(executor::Context::create());
  node_ = TAKT_TRY(executor::Node::create(context_, "/takt_gate"));
  const auto offer = TAKT_TRY(await_offer(settings_.input, stop));
  if (!offer) return {};
  output_ = TAKT_TRY(raw::RawPublisher::create(node_, settings_.topic, *offer));
  raw::Offer wanted = *offer;
  wanted.quality.depth = most_waiting;
  auto input = TAKT_TRY(raw::RawSubscription::create(node_, settings_.input, wanted));
  input_ = {settings_.input, wanted, std::move(input)};
  announce_input();
  if (settings_.phase_topic) {
    const auto told = TAKT_TRY(await_offer(*settings_.phase_topic, stop));
    if (!told) return {};
    auto phase = TAKT_TRY(raw::RawSubscription::create(node_, *settings_.phase_topic, *told));
    phase_ = {*settings_.phase_topic, *told, std::move(phase)};
  }
  return check(rcl_wait_set_init(&wait_set_, phase_ ? 2 : 1, 1, 0, 0, 0, 0, context_->handle(),
                                 rcl_get_default_allocator()),
               "make a wait set");
}

Result<std::optional<raw::Offer>> Republisher::find_offer(const std::string& topic) const {
  std::vector<raw::Gid> own;
  if (output_ != nullptr) own.push_back(output_->gid());
  auto offers = raw::find_offers(*node_, topic, depth, own);
  if (!offers) return tl::unexpected(offers.error());
  if (offers->empty()) return std::nullopt;
  raw::Offer& first = offers->front();
  for (const raw::Offer& other : *offers) {
    if (other.type == first.type) raw::weaken(first.quality, other.quality);
  }
  return first;
}

Result<std::optional<raw::Offer>> Republisher::await_offer(const std::string& topic,
                                                           const std::atomic<bool>& stop) const {
  while (!stop) {
    auto offer = find_offer(topic);
    if (!offer || *offer) return offer;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return std::nullopt;
}

Result<void> Republisher::hear_all_publishers(Heard& heard) {
  const auto offer = TAKT_TRY(find_offer(heard.topic));
  if (!offer || offer->type != heard.offer.type) return {};
  if (!raw::weaken(heard.offer.quality, offer->quality)) return {};
  heard.subscription = TAKT_TRY(raw::RawSubscription::create(node_, heard.topic, heard.offer));
  return {};
}

Result<void> Republisher::run(const std::atomic<bool>& stop) {
  if (!rcl_wait_set_is_valid(&wait_set_)) return {};
  executor::announce_gate();
  // If the kernel does not allow it, page faults remain.
  if (settings_.priority > 0) (void)linux_os::keep_memory();
  while (!stop) {
    const Instant now = linux_os::monotonic_now();
    const Duration left = waiting_.empty() ? patience : waiting_.front().release - now;
    if (left <= near) {
      const Instant release = waiting_.front().release;
      sleep_until(release - linux_os::wakes_ahead(settings_.period));
      linux_os::poll_until(release, [] { return false; });
      TAKT_TRY(release_front());
      TAKT_TRY(take_all());
      continue;
    }
    TAKT_TRY(wait(std::min(left - near / 2, patience)));
    TAKT_TRY(take_all());
    if (!std::exchange(graph_changed_, false)) continue;
    const auto* const heard = input_.subscription.get();
    TAKT_TRY(hear_all_publishers(input_));
    if (input_.subscription.get() != heard) announce_input();
    if (!phase_) continue;
    TAKT_TRY(hear_all_publishers(*phase_));
  }
  // The gate loses nothing at its end: outputs that have come leave at once. The statistics of
  // slots do not count them.
  TAKT_TRY(take_all());
  while (!waiting_.empty()) {
    waiting_.front().begin.reset();
    TAKT_TRY(release_front());
  }
  return {};
}

Result<void> Republisher::wait(Duration longest) {
  Result<void> prepared = check(rcl_wait_set_clear(&wait_set_), "clear a wait set");
  if (prepared) prepared = input_.subscription->add_to(wait_set_);
  if (prepared && phase_) prepared = phase_->subscription->add_to(wait_set_);
  if (prepared) {
    const rcl_guard_condition_t* graph = rcl_node_get_graph_guard_condition(node_->handle());
    prepared = check(rcl_wait_set_add_guard_condition(&wait_set_, graph, nullptr),
                     "wait for changes of the graph");
  }
  if (!prepared) return prepared;
  const rcl_ret_t code = rcl_wait(&wait_set_, longest.count());
  if (code == RCL_RET_TIMEOUT) {
    rcl_reset_error();
    return {};
  }
  graph_changed_ = graph_changed_ || wait_set_.guard_conditions[0] != nullptr;
  return check(code, "wait for messages");
}

Result<void> Republisher::take_all() {
  const Instant now = linux_os::monotonic_now();
  while (phase_) {
    const bool taken = TAKT_TRY(phase_->subscription->take(phase_bytes_));
    if (!taken) break;
    ++counts_.told;
    tracker_->observe(now);
  }
  if (external_) hear(now);
  // A publisher that is faster than the gate does not keep it from its slots, nor from its end.
  for (std::size_t left = most_waiting; left > 0; --left) {
    if (free_.empty()) free_.push_back(std::make_unique<raw::Bytes>());
    const bool taken = TAKT_TRY(input_.subscription->take(*free_.back()));
    if (!taken) return {};
    executor::trace_kept(free_.back().get());
    std::unique_ptr<raw::Bytes> bytes = std::move(free_.back());
    free_.pop_back();
    admit(std::move(bytes), now);
    if (waiting_.size() <= most_waiting) continue;
    TAKT_TRY(release_early());
  }
  return {};
}

void Republisher::hear(Instant now) {
  heard_.clear();
  counts_.unreadable += static_cast<std::int64_t>(external_->poll(heard_));
  const Duration near_now = shaping::PhaseTracker::window * settings_.period;
  for (const Instant beginning : heard_) {
    ++counts_.told;
    // Other programs may write anything: a beginning must be about now, and after the one before.
    if (beginning <= last_heard_ || beginning < now - near_now || beginning > now + near_now) {
      ++counts_.refused;
      continue;
    }
    last_heard_ = beginning;
    tracker_->observe(beginning);
  }
}

void Republisher::admit(std::unique_ptr<raw::Bytes> bytes, Instant ready) {
  ++counts_.received;
  const std::optional<Instant> begin = begin_of_cycle(ready);
  // Outputs keep their order.
  const Instant earliest = waiting_.empty() ? Instant::min() : waiting_.back().release;
  if (!begin) {
    ++counts_.unphased;
    waiting_.push_back({std::move(bytes), std::max(ready, earliest), std::nullopt});
    return;
  }
  using Kind = shaping::Gate::Decision::Kind;
  adapt(ready - *begin);
  const auto decision = gate_.decide(ready - *begin);
  if (decision.kind == Kind::dropped) {
    ++counts_.dropped;
    free_.push_back(std::move(bytes));
    return;
  }
  const bool late = decision.kind == Kind::late;
  counts_.late += late ? 1 : 0;
  if (!late) counts_.ready.record(ready - *begin);
  waiting_.push_back({std::move(bytes), std::max(*begin + decision.release, earliest),
                      late ? std::nullopt : begin});
}

void Republisher::adapt(Duration ready) {
  if (!adaptation_) return;
  // As in the gate, an output that is ready this early belongs to the cycle before.
  const bool earlier = ready < settings_.shortest / 2;
  auto slots = adaptation_->observe(earlier ? ready + settings_.period : ready);
  if (!slots) return;
  settings_.slots = std::move(*slots);
  gate_ = shaping::Gate(settings_.slots, settings_.period, settings_.publish_time,
                        settings_.shortest, settings_.overshoot);
  ++counts_.adaptations;
}

void Republisher::announce_input() {
  release_ = std::make_unique<executor::TracedCallback<const raw::Bytes&>>(
      "takt::gate::Republisher::release_front()",
      [this](const raw::Bytes& bytes) { released_ = output_->publish(bytes.get()); });
  release_->announce(*input_.subscription->handle(), input_.subscription.get());
}

Result<void> Republisher::release_early() {
  if (std::exchange(waiting_.front().begin, std::nullopt)) ++counts_.late;
  return release_front();
}

Result<void> Republisher::release_front() {
  Waiting leaving = std::move(waiting_.front());
  waiting_.pop_front();
  executor::trace_chosen(leaving.bytes.get());
  (*release_)(*leaving.bytes);
  TAKT_TRY(std::exchange(released_, {}));
  const Instant now = linux_os::monotonic_now();
  ++counts_.released;
  if (leaving.begin) {
    counts_.left.record(now - *leaving.begin);
    counts_.delay.record(now - leaving.release);
  }
  free_.push_back(std::move(leaving.bytes));
  return {};
}

std::optional<Instant> Republisher::begin_of_cycle(Instant now) const {
  if (tracker_) return tracker_->begin(now);
  return now - now.time_since_epoch() % settings_.period;
}

}  // namespace takt::gate
