#include "takt/transport/link_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "inheriting_mutex.hpp"
#include "line.hpp"
#include "shared_line.hpp"
#include "takt/base/try.hpp"
#include "udp_line.hpp"
#include "verbs_line.hpp"

namespace takt::transport {

namespace {

using Lines = std::vector<std::unique_ptr<Line>>;

Result<std::unique_ptr<Line>> open(const Peer& peer, const Key& key, std::size_t chunk_bytes) {
  if (const auto* udp = std::get_if<UdpOptions>(&peer.address)) {
    return UdpLine::open(*udp, key, peer.settings, now());
  }
  if (const auto* shared = std::get_if<SharedMemoryOptions>(&peer.address)) {
    return SharedLine::open(*shared, chunk_bytes, key, peer.settings, now());
  }
  const auto& verbs = std::get<VerbsOptions>(peer.address);
  return VerbsLine::open(verbs, chunk_bytes, key, peer.settings, now());
}

}  // namespace

Instant now() { return Instant{std::chrono::steady_clock::now().time_since_epoch()}; }

class LinkThread::State {
 public:
  State(Lines lines, std::unique_ptr<link::FlowControl> flow, int wake)
      : lines_(std::move(lines)),
        flow_(std::move(flow)),
        wake_(wake),
        watched_(lines_.size() * Line::most_watched + 1) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines_[i]->deliver_to(flow_->sink(link::PeerIndex(i)));
    }
    thread_ = std::thread([this] { run(); });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    stopping_ = true;
    wake();
    thread_.join();
    close(wake_);
  }

  std::optional<Loan> loan(link::ChannelIndex channel) {
    const std::scoped_lock lock(mutex_);
    const auto item = flow_->loan(channel);
    if (!item) return std::nullopt;
    return Loan{*item, flow_->memory(*item)};
  }

  void release(const Loan& loan) {
    const std::scoped_lock lock(mutex_);
    flow_->release(loan.item);
  }

  void push(const Loan& loan, std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      const Instant pushed = now();
      flow_->push(loan.item, bytes, pushed);
      // An idle link need not wait for its thread to wake up.
      flow_->send_next(pushed);
    }
    wake();
  }

  void wake() const {
    constexpr std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  }

  int use_fifo(int priority) {
    const sched_param parameters{.sched_priority = priority};
    return pthread_setschedparam(thread_.native_handle(), SCHED_FIFO, &parameters);
  }

  template <typename Look>
  auto with(Look look) {
    const std::scoped_lock lock(mutex_);
    return look(*flow_, lines_);
  }

 private:
  void run() {
    while (!stopping_) {
      const std::optional<Instant> due = turn();
      wait(due);
    }
  }

  /// Does once everything that is due; returns when the next thing is due.
  std::optional<Instant> turn() {
    const std::scoped_lock lock(mutex_);
    for (const auto& line : lines_) line->receive(now());
    // The connections come first: a lost peer gives an outcome, which the flow control then hears
    // of at once.
    std::optional<Instant> due;
    const auto sooner = [&due](Instant instant) { due = due ? std::min(*due, instant) : instant; };
    for (const auto& line : lines_) line->step(now());
    const auto flow_due = flow_->step(now());
    if (flow_due) sooner(*flow_due);
    auto watched = watched_.begin();
    for (const auto& line : lines_) {
      if (const auto line_due = line->step(now())) sooner(*line_due);
      watched = std::ranges::copy(line->watched(), watched).out;
    }
    *watched = Line::reading(wake_);
    return due;
  }

  void wait(std::optional<Instant> due) {
    timespec timeout{};
    if (due) {
      const auto left = std::max(Duration{0}, *due - now());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      timeout = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    }
    ppoll(watched_.data(), watched_.size(), due ? &timeout : nullptr, nullptr);
    std::uint64_t ignored = 0;
    if (watched_.back().revents != 0) {
      [[maybe_unused]] const ssize_t bytes = read(wake_, &ignored, sizeof ignored);
    }
  }

  Lines lines_;
  std::unique_ptr<link::FlowControl> flow_;
  InheritingMutex mutex_;
  std::atomic<bool> stopping_ = false;
  int wake_;
  std::vector<pollfd> watched_;
  std::thread thread_;
};

LinkThread::LinkThread(std::unique_ptr<State> state) : state_(std::move(state)) {}
LinkThread::~LinkThread() = default;

Result<std::unique_ptr<LinkThread>> LinkThread::start(link::Description description, const Key& key,
                                                      std::span<const Peer> peers) {
  if (description.chunk_bytes > Connection::most_bytes) {
    return error("chunk_bytes: at most {}", Connection::most_bytes);
  }
  Lines lines;
  std::vector<link::Transport*> transports;
  for (const Peer& peer : peers) {
    auto line = TAKT_TRY(open(peer, key, description.chunk_bytes));
    transports.push_back(line.get());
    lines.push_back(std::move(line));
  }
  auto flow = TAKT_TRY(link::FlowControl::create(std::move(description), transports, now()));
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return error("eventfd: {}", std::strerror(errno));
  return std::unique_ptr<LinkThread>(
      new LinkThread(std::make_unique<State>(std::move(lines), std::move(flow), wake)));
}

Result<void> LinkThread::use_fifo(int priority) {
  const int refused = state_->use_fifo(priority);
  if (refused == 0) return {};
  return error("SCHED_FIFO {} of the link's thread: {}", priority, std::strerror(refused));
}

std::optional<LinkThread::Loan> LinkThread::loan(link::ChannelIndex channel) {
  return state_->loan(channel);
}

void LinkThread::push(const Loan& loan, std::size_t bytes) { state_->push(loan, bytes); }
void LinkThread::release(const Loan& loan) { state_->release(loan); }

/// Copies without the lock: while a long message is copied, the link's thread goes on.
bool LinkThread::push(link::ChannelIndex channel, std::span<const std::byte> message,
                      std::span<const std::byte> rest) {
  const std::size_t bytes = message.size() + rest.size();
  const auto loan = this->loan(channel);
  if (!loan) return false;
  if (bytes > loan->memory.size()) {
    release(*loan);
    return false;
  }
  std::ranges::copy(rest, std::ranges::copy(message, loan->memory.begin()).out);
  push(*loan, bytes);
  return true;
}

void LinkThread::with(const std::function<void(link::FlowControl&)>& look) {
  state_->with([&](link::FlowControl& flow, auto&) { look(flow); });
  state_->wake();
}

bool LinkThread::connected(link::PeerIndex peer) {
  return state_->with([&](auto&, auto& lines) { return lines[peer.value()]->reachable(); });
}

ConnectionCounts LinkThread::counts(link::PeerIndex peer) {
  return state_->with([&](auto&, auto& lines) { return lines[peer.value()]->counts(); });
}

}  // namespace takt::transport
