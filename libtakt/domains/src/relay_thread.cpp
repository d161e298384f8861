#include "takt/domains/relay_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace takt::domains {

namespace {

void ring_bell(const Descriptor& bell) { eventfd_write(bell.get(), 1); }

void silence(const Descriptor& bell) {
  eventfd_t count = 0;
  eventfd_read(bell.get(), &count);
}

}  // namespace

Result<std::unique_ptr<RelayThread>> RelayThread::make(const Relay::Ends& ends, Room room,
                                                       std::uint64_t published, bool runs) {
  Descriptor woken(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Descriptor told(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!woken || !told) return error("copies for {}: {}", to_string(ends.to), strerror(errno));
  std::unique_ptr<RelayThread> made(
      new RelayThread(ends, std::move(room), published, std::move(woken), std::move(told)));
  if (runs) made->thread_ = std::thread([relay = made.get()] { relay->loop(); });
  return made;
}

RelayThread::RelayThread(const Relay::Ends& ends, Room room, std::uint64_t published,
                         Descriptor woken, Descriptor told)
    : relay_(ends, std::move(room), published), woken_(std::move(woken)), told_(std::move(told)) {}

RelayThread::~RelayThread() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  ring_bell(woken_);
  thread_.join();
}

void RelayThread::add(Arrival arrival) {
  {
    const std::scoped_lock lock(mutex_);
    arrivals_.push_back(std::move(arrival));
    is_unused_ = false;
  }
  ring_bell(woken_);
}

bool RelayThread::is_unused() {
  silence(told_);
  const std::scoped_lock lock(mutex_);
  return is_unused_;
}

void RelayThread::admit_all() {
  std::vector<Arrival> arrivals;
  {
    const std::scoped_lock lock(mutex_);
    arrivals = std::exchange(arrivals_, {});
  }
  for (Arrival& arrival : arrivals) {
    if (arrival.source) relay_.add_source(std::move(arrival.source));
    relay_.admit(std::move(arrival.socket), arrival.hello);
  }
}

void RelayThread::tell_if_unused() {
  if (relay_.subscriptions() > 0) return;
  const std::scoped_lock lock(mutex_);
  if (is_unused_ || !arrivals_.empty()) return;
  is_unused_ = true;
  ring_bell(told_);
}

void RelayThread::run() {
  admit_all();
  while (relay_.step()) admit_all();
  tell_if_unused();
}

void RelayThread::wait() {
  std::vector<pollfd> waiting{{.fd = woken_.get(), .events = POLLIN, .revents = 0}};
  for (const int descriptor : relay_.descriptors()) {
    waiting.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  poll(waiting.data(), waiting.size(), -1);
  silence(woken_);
}

void RelayThread::loop() {
  for (;;) {
    run();
    relay_.arm();
    if (relay_.step()) continue;
    tell_if_unused();
    {
      const std::scoped_lock lock(mutex_);
      if (is_ending_) return;
    }
    wait();
  }
}

}  // namespace takt::domains
