#include "dispatcher.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "takt/linux/thread_clock.hpp"

namespace takt::shaping {

namespace {

/// Between two looks for new threads: reading /proc costs as much as many switches.
constexpr Duration look_interval = std::chrono::seconds{1};

/// The entries of a folder that are numbers. Processes and threads come and go meanwhile.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (auto entry = std::filesystem::directory_iterator(folder, gone);
       !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    const std::string name = entry->path().filename();
    pid_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number > 0) found.push_back(number);
  }
  return found;
}

/// The processes of a session and all that descend from these, which may have sessions of their
/// own.
std::set<pid_t> family(pid_t leader) {
  std::vector<pid_t> found;
  for (const pid_t process : numbers_in("/proc")) {
    if (getsid(process) == leader) found.push_back(process);
  }
  std::set<pid_t> known(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string tasks = fmt::format("/proc/{}/task", found[i]);
    for (const pid_t thread : numbers_in(tasks)) {
      std::ifstream children(fmt::format("{}/{}/children", tasks, thread));
      for (pid_t child = 0; children >> child;) {
        if (known.insert(child).second) found.push_back(child);
      }
    }
  }
  return known;
}

/// Threads that a thread starts do not keep its priority for ever: they are looked at like all
/// others.
linux_os::FifoScheduling at_priority(int priority) {
  return {.priority = priority, .resets_on_fork = true};
}

}  // namespace

Dispatcher::Dispatcher(Settings settings, linux_os::Guard& guard)
    : settings_(std::move(settings)), guard_(guard) {
  const std::vector<Slot>& slots = settings_.slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    // Where a slot begins as another ends, nothing changes.
    const Duration before = i > 0 ? slots[i - 1].end : slots.back().end - settings_.cycle;
    const Duration after =
        i + 1 < slots.size() ? slots[i + 1].start : slots.front().start + settings_.cycle;
    if (before < slots[i].start) boundaries_.push_back({slots[i].start, true});
    if (slots[i].end < after) boundaries_.push_back({slots[i].end, false});
  }
  // One slot is the whole cycle.
  if (boundaries_.empty()) boundaries_.push_back({Duration{0}, true});
}

Result<void> Dispatcher::run(const std::vector<int>& descriptors) {
  const Instant start = linux_os::monotonic_now();
  Instant begin = start - start.time_since_epoch() % settings_.cycle;
  // A cycle may be minutes long: boundaries that are over tell whether this is within a slot.
  is_in_slot_ = !boundaries_.front().begins_slot;
  auto next = boundaries_.begin();
  for (; next != boundaries_.end() && begin + next->at <= start; ++next) {
    is_in_slot_ = next->begins_slot;
  }
  look();
  while (guard_.is_alive()) {
    if (next == boundaries_.end()) {
      begin += settings_.cycle;
      next = boundaries_.begin();
    }
    if (!wait_until(begin + next->at, descriptors)) return {};
    pass(*next++);
    // Here most time is left until the next boundary.
    if (linux_os::monotonic_now() >= next_look_) look();
  }
  return error("the process that restores threads was killed; all threads are as they were");
}

bool Dispatcher::wait_until(Instant when, const std::vector<int>& descriptors) {
  while (when - linux_os::monotonic_now() > look_interval) {
    if (!sleep_until(next_look_, descriptors)) return false;
    look();
  }
  return sleep_until(when, descriptors);
}

bool Dispatcher::sleep_until(Instant when, const std::vector<int>& descriptors) {
  std::vector<pollfd> events;
  for (const int one : descriptors) events.push_back({.fd = one, .events = POLLIN, .revents = 0});
  while (true) {
    const Duration left = std::max(when - linux_os::monotonic_now(), Duration{0});
    const timespec time{.tv_sec = left.count() / 1'000'000'000,
                        .tv_nsec = left.count() % 1'000'000'000};
    const int ready = ppoll(events.data(), events.size(), &time, nullptr);
    if (ready == 0) return true;
    if (ready > 0) return false;
  }
}

void Dispatcher::pass(const Boundary& boundary) {
  ++switches_;
  is_in_slot_ = boundary.begins_slot;
  for (const auto& [thread, main] : main_threads_) {
    main.schedule(boundary.begins_slot ? at_priority(settings_.inside) : main.former());
  }
}

void Dispatcher::look() {
  next_look_ = linux_os::monotonic_now() + look_interval;
  std::set<linux_os::ThreadIdentity> alive;
  for (const pid_t process : family(settings_.leader)) {
    for (const pid_t number : numbers_in(fmt::format("/proc/{}/task", process))) {
      const auto thread = linux_os::identify(process, number);
      if (!thread) continue;
      alive.insert(*thread);
      if (!threads_.contains(*thread)) take_on(*thread);
    }
  }
  std::erase_if(main_threads_, [&](const auto& known) { return !alive.contains(known.first); });
  threads_ = std::move(alive);
}

void Dispatcher::take_on(const linux_os::ThreadIdentity& thread) {
  const auto former = linux_os::get_scheduling(thread.thread);
  if (!former) return;
  // A reservation is the latency manager's, or the program's own.
  if (std::holds_alternative<linux_os::DeadlineScheduling>(*former)) return;
  const bool is_main = thread.process == thread.thread;
  auto main = is_main ? MainThread::of(thread.process) : std::nullopt;
  // Also makes sure that it is this thread whose number was looked up above.
  if (!guard_.remember(thread)) return;
  if (!is_main) {
    (void)linux_os::set_scheduling(thread.thread, at_priority(settings_.middleware));
  } else if (main) {
    if (is_in_slot_) main->schedule(at_priority(settings_.inside));
    main_threads_.emplace(thread, std::move(*main));
  }
}

}  // namespace takt::shaping
