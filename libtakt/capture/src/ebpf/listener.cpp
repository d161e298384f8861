#include "listener.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../life.hpp"
#include "takt/base/try.hpp"

namespace takt::capture::ebpf {

namespace {

/// Bytes of events of a process that may wait to be taken; what comes then is lost.
constexpr std::size_t most_waiting = 32 << 20;

}  // namespace

/// What a process did and nobody has taken yet.
class Listener::Queue {
 public:
  Queue(pid_t process, std::size_t gid_size)
      : process_(process), gid_size_(gid_size), life_(process) {}

  void add(Event event) {
    const std::scoped_lock lock(mutex_);
    if (waiting_.payloads.size() + waiting_.events.size() * sizeof(Event) >= most_waiting) {
      ++lost_;
      return;
    }
    waiting_.payloads.insert(waiting_.payloads.end(), event.payload.begin(), event.payload.end());
    waiting_.events.push_back(event);
  }

  void drain(const Take& take) {
    Waiting taken;
    {
      const std::scoped_lock lock(mutex_);
      std::swap(taken, waiting_);
    }
    std::span<const std::byte> rest(taken.payloads);
    for (Event& event : taken.events) {
      event.payload = rest.first(event.payload.size());
      rest = rest.subspan(event.payload.size());
      take(process_, gid_size_, event);
    }
  }

  [[nodiscard]] pid_t process() const { return process_; }
  [[nodiscard]] bool has_ended() const { return life_.has_ended(); }
  [[nodiscard]] std::uint64_t lost() const {
    const std::scoped_lock lock(mutex_);
    return lost_;
  }

 private:
  struct Waiting {
    std::vector<Event> events;  // of their payloads, only the sizes mean something
    std::vector<std::byte> payloads;
  };

  const pid_t process_;
  const std::size_t gid_size_;
  const Life life_;
  mutable std::mutex mutex_;  // guards what follows
  Waiting waiting_;
  std::uint64_t lost_ = 0;
};

/// Outlived by the queue until all of it is taken.
class Listener::Sink final : public ProcessSink {
 public:
  explicit Sink(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

  bool append(std::uint64_t time, std::uint32_t thread, std::span<const char, 16> name,
              std::uint16_t event, std::span<const std::byte> fields) override {
    Event added{.time = time,
                .thread = thread,
                .thread_name = {},
                .number = static_cast<std::uint8_t>(event),
                .payload = fields};
    std::ranges::copy(name.first<15>(), added.thread_name.begin());
    queue_->add(added);
    return true;
  }
  void append_object(std::uint64_t time, std::uint32_t thread, std::span<const char, 16> name,
                     std::uint16_t event, std::span<const std::byte> fields) override {
    append(time, thread, name, event, fields);
  }
  void set_discarded_objects(std::uint64_t /*count*/) override {}
  void flush() override {}
  [[nodiscard]] std::uint64_t unwritten() const override { return queue_->lost(); }

 private:
  std::shared_ptr<Queue> queue_;
};

Result<std::unique_ptr<Listener>> Listener::start(bool only_started) {
  std::unique_ptr<Listener> listener(new Listener);
  const auto admit = [made = listener.get()](pid_t process, std::uint64_t /*events*/,
                                             unsigned gid_size) {
    return Result<std::unique_ptr<ProcessSink>>(made->admit(process, gid_size));
  };
  Options options;
  options.events = {"ros2:*", "takt:*", "rcl:*"};
  options.only_started = only_started;
  listener->recorder_ = TAKT_TRY(Recorder::start({admit, nullptr, true}, options, true));
  return listener;
}

Listener::Listener() = default;
Listener::~Listener() = default;

std::unique_ptr<ProcessSink> Listener::admit(pid_t process, unsigned gid_size) {
  auto queue = std::make_shared<Queue>(process, gid_size);
  const std::scoped_lock lock(mutex_);
  queues_.push_back(queue);
  return std::make_unique<Sink>(std::move(queue));
}

std::vector<pid_t> Listener::drain(const Take& take) {
  std::vector<std::shared_ptr<Queue>> ended;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& queue : queues_) {
      if (queue->has_ended()) ended.push_back(queue);
    }
  }
  recorder_->take_now();  // also what those did last
  const std::scoped_lock lock(mutex_);
  for (const auto& queue : queues_) queue->drain(take);
  std::vector<pid_t> gone;
  for (const auto& queue : ended) {
    gone.push_back(queue->process());
    std::erase(queues_, queue);
  }
  return gone;
}

Losses Listener::losses() { return recorder_->losses().value_or(Losses{}); }

std::vector<std::pair<pid_t, Losses>> Listener::losses_by_process() {
  const Losses all = losses();
  const std::scoped_lock lock(mutex_);
  std::vector<std::pair<pid_t, Losses>> by_process;
  for (const auto& queue : queues_) by_process.emplace_back(queue->process(), all);
  return by_process;
}

}  // namespace takt::capture::ebpf
