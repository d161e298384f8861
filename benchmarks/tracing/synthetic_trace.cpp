#include "synthetic_trace.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "trace_writer.hpp"

namespace takt::benchmark {
namespace {

using test::Bits;
using test::TraceWriter;

constexpr std::uint64_t processes = 4;
constexpr std::uint64_t chains = 24;
constexpr std::uint64_t stages = 4;  // a timer and three subscriptions
constexpr std::uint64_t period = 10'000'000;
constexpr std::uint64_t packet_size = 256 << 10;
constexpr std::uint64_t step = 4'000;  // from event to event

/// Bytes of an event as they stand in the packet.
class Fields {
 public:
  template <std::integral Number>
  Fields& add(Number number) {
    const char* const bytes = reinterpret_cast<const char*>(&number);
    bytes_.append(bytes, sizeof number);
    return *this;
  }
  Fields& add(std::string_view text) {
    bytes_ += text;
    bytes_ += '\0';
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The stream of one processor.
class Stream {
 public:
  Stream(const std::filesystem::path& file, std::uint32_t processor)
      : file_(file, std::ios::binary), processor_(processor) {
    content_.reserve(packet_size);
  }

  void add(std::uint32_t id, std::uint64_t time, std::string_view context,
           std::string_view fields) {
    if (content_.empty()) {
      begin_ = time;
    }
    end_ = time;
    const auto short_id = static_cast<std::uint16_t>(id);
    const auto short_time = static_cast<std::uint32_t>(time);
    content_.append(reinterpret_cast<const char*>(&short_id), sizeof short_id);
    content_.append(reinterpret_cast<const char*>(&short_time), sizeof short_time);
    content_ += context;
    content_ += fields;
    if (content_.size() >= packet_size - 1024) {
      flush();
    }
  }

  void flush() {
    // Only the layout comes from the test's writer, as that would write the content bit by bit.
    std::string packet = TraceWriter::packet(
        {.begin = begin_, .end = end_, .sequence = sequence_++, .cpu = processor_, .padding = 0},
        content_);
    file_ << packet;
    content_.clear();
  }

 private:
  std::ofstream file_;
  std::uint32_t processor_;
  std::uint64_t sequence_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::string content_;
};

constexpr const char* handle = "integer { size = 64; align = 8; base = 16; } ";
constexpr const char* signed_64 = "integer { size = 64; align = 8; signed = 1; } ";
constexpr const char* signed_32 = "integer { size = 32; align = 8; signed = 1; } ";

/// "handle a, handle b, …" as the metadata declares it.
std::string fields(std::initializer_list<std::pair<const char*, const char*>> list) {
  std::string declarations;
  for (const auto& [type, name] : list) {
    declarations += std::string(type) + " _" + name + ";";
  }
  return declarations;
}

class System {
 public:
  explicit System(const std::filesystem::path& directory);

  void start();
  void run_chain(std::uint64_t activation, std::uint64_t chain);
  std::uint64_t finish();
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void add(std::uint32_t id, std::uint64_t process, std::string_view fields = {});
  void wait(std::uint64_t process, std::uint64_t object);
  void publish(std::uint64_t process, std::uint64_t object, std::uint64_t message);
  void start_timer(std::uint64_t process, std::uint64_t object);
  void start_subscription(std::uint64_t process, std::uint64_t object);
  void start_publisher(std::uint64_t process, std::uint64_t object);

  /// The address of a part of what belongs to one callback.
  static std::uint64_t address(std::uint64_t object, std::uint64_t part) {
    return 0x5500'0000'0000 + (object << 12) + (part << 4);
  }
  static std::uint64_t object(std::uint64_t chain, std::uint64_t stage) {
    return chain * stages + stage;
  }
  static std::string topic(std::uint64_t object) { return "/topic_" + std::to_string(object); }

  TraceWriter writer_;
  std::uint32_t node_init_ =
      writer_.declare("ros2:rcl_node_init", fields({{handle, "node_handle"},
                                                    {handle, "rmw_handle"},
                                                    {"string", "node_name"},
                                                    {"string", "namespace"}}));
  std::uint32_t rmw_publisher_init_ = writer_.declare(
      "ros2:rmw_publisher_init", fields({{handle, "rmw_publisher_handle"}}) + "uint8_t _gid[16];");
  std::uint32_t publisher_init_ =
      writer_.declare("ros2:rcl_publisher_init", fields({{handle, "publisher_handle"},
                                                         {handle, "node_handle"},
                                                         {handle, "rmw_publisher_handle"},
                                                         {"string", "topic_name"},
                                                         {"uint64_t", "queue_depth"}}));
  std::uint32_t subscription_init_ =
      writer_.declare("ros2:rcl_subscription_init", fields({{handle, "subscription_handle"},
                                                            {handle, "node_handle"},
                                                            {handle, "rmw_subscription_handle"},
                                                            {"string", "topic_name"},
                                                            {"uint64_t", "queue_depth"}}));
  std::uint32_t object_init_ =
      writer_.declare("ros2:rclcpp_subscription_init",
                      fields({{handle, "subscription_handle"}, {handle, "subscription"}}));
  std::uint32_t callback_added_ =
      writer_.declare("ros2:rclcpp_subscription_callback_added",
                      fields({{handle, "subscription"}, {handle, "callback"}}));
  std::uint32_t timer_init_ = writer_.declare(
      "ros2:rcl_timer_init", fields({{handle, "timer_handle"}, {signed_64, "period"}}));
  std::uint32_t timer_added_ = writer_.declare(
      "ros2:rclcpp_timer_callback_added", fields({{handle, "timer_handle"}, {handle, "callback"}}));
  std::uint32_t timer_link_ = writer_.declare(
      "ros2:rclcpp_timer_link_node", fields({{handle, "timer_handle"}, {handle, "node_handle"}}));
  std::uint32_t wait_ =
      writer_.declare("ros2:rclcpp_executor_wait_for_work", fields({{signed_64, "timeout"}}));
  std::uint32_t ready_ = writer_.declare("ros2:rclcpp_executor_get_next_ready", "");
  std::uint32_t execute_ =
      writer_.declare("ros2:rclcpp_executor_execute", fields({{handle, "handle"}}));
  std::uint32_t rmw_take_ =
      writer_.declare("ros2:rmw_take", fields({{handle, "rmw_subscription_handle"},
                                               {handle, "message"},
                                               {signed_64, "source_timestamp"},
                                               {signed_32, "taken"}}));
  std::uint32_t rcl_take_ = writer_.declare("ros2:rcl_take", fields({{handle, "message"}}));
  std::uint32_t rclcpp_take_ = writer_.declare("ros2:rclcpp_take", fields({{handle, "message"}}));
  std::uint32_t start_ = writer_.declare(
      "ros2:callback_start", fields({{handle, "callback"}, {signed_32, "is_intra_process"}}));
  std::uint32_t end_ = writer_.declare("ros2:callback_end", fields({{handle, "callback"}}));
  std::uint32_t rclcpp_publish_ =
      writer_.declare("ros2:rclcpp_publish", fields({{handle, "message"}}));
  std::uint32_t rcl_publish_ = writer_.declare(
      "ros2:rcl_publish", fields({{handle, "publisher_handle"}, {handle, "message"}}));
  std::uint32_t rmw_publish_ = writer_.declare(
      "ros2:rmw_publish",
      fields({{handle, "rmw_publisher_handle"}, {handle, "message"}, {signed_64, "timestamp"}}));

  std::array<std::string, processes> contexts_;
  std::vector<Stream> streams_;  // one for each processor
  std::uint64_t time_ = 1'000'000'000;
  std::uint64_t events_ = 0;
};

enum Part : std::uint64_t { node, rcl, rmw, cpp, callback, publisher, rmw_publisher, message };

System::System(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "metadata") << writer_.metadata();
  for (std::uint32_t processor = 0; processor < 2; ++processor) {
    streams_.emplace_back(directory / ("ros2_" + std::to_string(processor)), processor);
  }
  for (std::uint64_t process = 0; process < processes; ++process) {
    Bits context;
    const auto id = static_cast<std::int32_t>(1000 + process);
    TraceWriter::add_context(context, id, id, "process_" + std::to_string(process));
    contexts_[process] = context.bytes();
  }
}

void System::add(std::uint32_t id, std::uint64_t process, std::string_view fields) {
  time_ += step;
  streams_[process % streams_.size()].add(id, time_, contexts_[process], fields);
  ++events_;
}

void System::start_publisher(std::uint64_t process, std::uint64_t object) {
  Fields gid;
  gid.add(address(object, rmw_publisher)).add(object).add(object);
  add(rmw_publisher_init_, process, gid.bytes());
  add(publisher_init_, process,
      Fields()
          .add(address(object, publisher))
          .add(address(process, node))
          .add(address(object, rmw_publisher))
          .add(topic(object))
          .add(std::uint64_t{10})
          .bytes());
}

void System::start_timer(std::uint64_t process, std::uint64_t object) {
  add(timer_init_, process, Fields().add(address(object, rcl)).add(period).bytes());
  add(timer_added_, process,
      Fields().add(address(object, rcl)).add(address(object, callback)).bytes());
  add(timer_link_, process, Fields().add(address(object, rcl)).add(address(process, node)).bytes());
}

void System::start_subscription(std::uint64_t process, std::uint64_t object) {
  add(subscription_init_, process,
      Fields()
          .add(address(object, rcl))
          .add(address(process, node))
          .add(address(object, rmw))
          .add(topic(object - 1))
          .add(std::uint64_t{10})
          .bytes());
  add(object_init_, process, Fields().add(address(object, rcl)).add(address(object, cpp)).bytes());
  add(callback_added_, process,
      Fields().add(address(object, cpp)).add(address(object, callback)).bytes());
}

void System::start() {
  for (std::uint64_t process = 0; process < processes; ++process) {
    add(node_init_, process,
        Fields()
            .add(address(process, node))
            .add(address(process, rmw))
            .add("node_" + std::to_string(process))
            .add("/")
            .bytes());
  }
  for (std::uint64_t chain = 0; chain < chains; ++chain) {
    for (std::uint64_t stage = 0; stage < stages; ++stage) {
      const std::uint64_t process = (chain + stage) % processes;
      stage == 0 ? start_timer(process, object(chain, stage))
                 : start_subscription(process, object(chain, stage));
      if (stage + 1 < stages) {
        start_publisher(process, object(chain, stage));
      }
    }
  }
  time_ += 2'000'000'000;  // start-up is over
}

void System::wait(std::uint64_t process, std::uint64_t object) {
  add(wait_, process, Fields().add(std::int64_t{-1}).bytes());
  add(ready_, process);
  add(execute_, process, Fields().add(address(object, rcl)).bytes());
}

void System::publish(std::uint64_t process, std::uint64_t object, std::uint64_t sent) {
  add(rclcpp_publish_, process, Fields().add(sent).bytes());
  add(rcl_publish_, process, Fields().add(address(object, publisher)).add(sent).bytes());
  const std::uint64_t timestamp = time_ + 1'000'000'000'000;
  add(rmw_publish_, process,
      Fields().add(address(object, rmw_publisher)).add(sent).add(timestamp).bytes());
}

void System::run_chain(std::uint64_t activation, std::uint64_t chain) {
  const std::uint64_t due = 4'000'000'000 + activation * period + chain * (period / chains);
  time_ = std::max(time_, due);
  std::uint64_t sent_at = 0;
  for (std::uint64_t stage = 0; stage < stages; ++stage) {
    const std::uint64_t process = (chain + stage) % processes;
    const std::uint64_t now = object(chain, stage);
    wait(process, now);
    const std::uint64_t sent = address(now, message);
    if (stage != 0) {
      add(rmw_take_, process,
          Fields().add(address(now, rmw)).add(sent).add(sent_at).add(std::int32_t{1}).bytes());
      add(rcl_take_, process, Fields().add(sent).bytes());
      add(rclcpp_take_, process, Fields().add(sent).bytes());
    }
    add(start_, process, Fields().add(address(now, callback)).add(std::int32_t{0}).bytes());
    if (stage + 1 < stages) {
      publish(process, now, sent);
      sent_at = time_ - step + 1'000'000'000'000;
    }
    add(end_, process, Fields().add(address(now, callback)).bytes());
  }
}

std::uint64_t System::finish() {
  for (Stream& stream : streams_) {
    stream.flush();
  }
  return events_;
}

}  // namespace

std::uint64_t write_synthetic_trace(const std::filesystem::path& directory, std::uint64_t events) {
  System system(directory);
  system.start();
  for (std::uint64_t activation = 0; system.events() < events; ++activation) {
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      system.run_chain(activation, chain);
    }
  }
  return system.finish();
}

}  // namespace takt::benchmark
