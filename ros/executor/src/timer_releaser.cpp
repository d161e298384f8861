#include "takt/executor/timer_releaser.hpp"

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

#include "takt/base/try.hpp"

namespace takt::executor {

using scheduling::LocalIndex;

Result<std::unique_ptr<TimerReleaser>> TimerReleaser::start(
    const std::optional<linux_os::ThreadScheduling>& scheduling, Release release,
    std::function<void()> failed) {
  std::unique_ptr<TimerReleaser> releaser(new TimerReleaser(std::move(release), std::move(failed)));
  const auto set_up = std::make_shared<std::promise<Result<void>>>();
  const auto body = [&releaser = *releaser, scheduling, set_up] {
    Result<void> scheduled;
    if (scheduling) scheduled = linux_os::set_scheduling(0, *scheduling);
    const bool runs = scheduled.has_value();
    set_up->set_value(std::move(scheduled));
    if (runs) releaser.run();
  };
  try {
    releaser->thread_ = std::thread(body);
  } catch (const std::system_error& refused) {
    return error("cannot start the thread that releases timers: {}", refused.what());
  }
  if (const Result<void> scheduled = set_up->get_future().get(); !scheduled) {
    return error("the thread that releases timers: {}", scheduled.error().message);
  }
  return releaser;
}

TimerReleaser::~TimerReleaser() {
  (void)watch({});
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// --- What is watched

Result<void> TimerReleaser::watch(std::vector<Watched> timers) {
  const std::scoped_lock watching(watching_);
  timers_ = std::move(timers);
  forget_others();
  queue_ = scheduling::HoldableHeap<Instant>(timers_.size());
  looked_at_.reserve(timers_.size());
  {
    const std::scoped_lock lock(mutex_);
    changed_timers_.reserve(timers_.size());
  }
  for (std::size_t place = 0; place < timers_.size(); ++place) {
    TAKT_TRY(listen(timers_[place], place));
  }
  for (auto& known : known_) tell(known.second);
  return {};
}

/// What is not watched any more.
void TimerReleaser::forget_others() {
  const auto is_other = [this](const auto& known) {
    return std::ranges::find(timers_, known.first, &Watched::timer) == timers_.end();
  };
  for (auto& known : known_) {
    if (!is_other(known)) continue;
    (void)known.second.listening.end();
    const std::scoped_lock lock(mutex_);
    std::erase(changed_timers_, &known.second);
  }
  std::erase_if(known_, is_other);
}

Result<void> TimerReleaser::listen(const Watched& watched, std::size_t place) {
  TimerExecutable* const timer = watched.timer;
  const auto [at, is_new] = known_.try_emplace(timer);
  Known& known = at->second;
  known.place = LocalIndex(place);
  if (!is_new) return {};
  auto listening = Listening::begin(
      timer->source(), [&] { return timer->on_change([this, &known] { tell(known); }); },
      [timer] { return timer->on_change({}); });
  if (!listening) {
    known_.erase(at);
    return tl::unexpected(listening.error());
  }
  known.listening = std::move(*listening);
  return {};
}

/// The timer is to be looked at. Called by timers, under locks of theirs.
void TimerReleaser::tell(Known& known) {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(known.has_told, true)) changed_timers_.push_back(&known);
  wake();
}

/// With the lock held. Another thread may have looked at what has changed before this one does.
void TimerReleaser::wake() {
  look_again_ = true;
  changed_.notify_one();
}

// --- The thread

Result<void> TimerReleaser::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void TimerReleaser::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    look_again_ = false;
    lock.unlock();
    const Result<std::optional<Instant>> next = release_due();
    lock.lock();
    if (!next) {
      failure_ = tl::unexpected(next.error());
      lock.unlock();
      failed_();
      return;
    }
    const auto woken = [this] { return stopping_ || look_again_; };
    if (*next) {
      changed_.wait_until(lock, std::chrono::steady_clock::time_point((*next)->time_since_epoch()),
                          woken);
    } else {
      changed_.wait(lock, woken);
    }
  }
}

// --- Releases

Result<std::optional<Instant>> TimerReleaser::release_due() {
  const std::scoped_lock watching(watching_);
  Result<void> looked = look_at_changed();
  if (looked && clock_.has_stepped()) {
    looked = look_at_all();
    const std::scoped_lock lock(mutex_);
    wake();
  }
  const Instant now = linux_os::monotonic_now();
  while (looked && !queue_.empty() && queue_.key(queue_.top()) <= now) {
    const LocalIndex place = queue_.top();
    const Watched& watched = timers_[place.value()];
    const std::optional<Duration> left = TAKT_TRY(watched.timer->time_until_expiry());
    if (left && *left <= Duration{0}) looked = release(watched);
    // It may be due again, but others take their turn first.
    if (looked) looked = look_at(place, now + epsilon);
  }
  if (!looked) return tl::unexpected(looked.error());
  if (queue_.empty()) return std::nullopt;
  return queue_.key(queue_.top());
}

Result<void> TimerReleaser::look_at_changed() {
  {
    const std::scoped_lock lock(mutex_);
    looked_at_.swap(changed_timers_);
    for (Known* const known : looked_at_) known->has_told = false;
  }
  Result<void> looked;
  for (const Known* const known : looked_at_) {
    if (looked) looked = look_at(known->place, Instant::min());
  }
  looked_at_.clear();
  return looked;
}

Result<void> TimerReleaser::look_at_all() {
  for (std::size_t place = 0; place < timers_.size(); ++place) {
    TAKT_TRY(look_at(LocalIndex(place), Instant::min()));
  }
  return {};
}

/// Puts a timer where its next expiry belongs, which is not before `earliest`.
Result<void> TimerReleaser::look_at(LocalIndex place, Instant earliest) {
  // Read before: with a time that is too early the timer is looked at again, and not too late.
  const Instant now = linux_os::monotonic_now();
  const std::optional<Duration> left = TAKT_TRY(timers_[place.value()].timer->time_until_expiry());
  if (!left) {
    queue_.remove(place);
    return {};
  }
  const Instant expiry = *left > Instant::max() - now ? Instant::max() : now + *left;
  queue_.insert(place, std::max(earliest, expiry));
  return {};
}

Result<void> TimerReleaser::release(const Watched& watched) {
  const auto expiry = TAKT_TRY(watched.timer->expire());
  if (!expiry) return {};
  Instant when = expiry->when;
  for (std::size_t n = 0; n <= std::min(expiry->missed, TimerExecutable::most_waiting); ++n) {
    release_(watched.id, when);
    when += expiry->period;
  }
  return {};
}

}  // namespace takt::executor
