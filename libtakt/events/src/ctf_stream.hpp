#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ctf_cursor.hpp"
#include "ctf_plan.hpp"
#include "mapped_file.hpp"
#include "takt/events/event.hpp"
#include "takt/events/source.hpp"
#include "takt/events/threads.hpp"

namespace takt::events::ctf {

/// What the streams of a trace share.
struct TraceContext {
  const TracePlan* plan = nullptr;
  HostIndex host;
  /// What to add to the trace's clock for the source's time line.
  Duration shift{};
  /// Of traces with one buffer for each process, whose events need not repeat it.
  std::int64_t process_id = 0;
  std::string process_name;
  Threads* threads = nullptr;
  Losses* losses = nullptr;
};

/// Decodes the packets of one stream file, event by event. Trusts nothing in it: what cannot be
/// decoded is skipped as far as the next packet, or to the end where the packets' sizes make no
/// sense, and counted.
class Stream {
 public:
  /// `name` is what messages call the file.
  Stream(const TraceContext& trace, std::span<const std::uint8_t> bytes, std::string name);

  /// Decodes up to the next event of a known type. False at the end.
  bool advance();

  /// The event that advance() found; its payload, if it has one, is payload().
  [[nodiscard]] const Event& event() const { return event_; }
  [[nodiscard]] Payload& payload() { return payload_; }
  [[nodiscard]] bool has_payload() const { return has_payload_; }

  /// Bytes of packets that are done with.
  [[nodiscard]] std::uint64_t position() const { return packet_begin_; }
  [[nodiscard]] std::uint32_t processor() const { return processor_; }
  /// Events decoded so far, by stream id and event id.
  template <typename Function>
  void for_each_count(Function&& function) const {
    for (std::size_t id = 0; plan_ != nullptr && id < counts_.size(); ++id) {
      if (counts_[id] != 0) {
        function(plan_->events[id].name, counts_[id]);
      }
    }
  }

 private:
  bool open_packet();
  bool read_packet_header(Cursor& cursor, std::uint64_t& stream_id);
  void read_packet_context(Cursor& cursor);
  bool decode_event();
  bool decode_header(std::uint64_t& id);
  bool decode_other_header(std::uint64_t& id);
  bool decode_context();
  bool decode_fields(const EventPlan& plan);
  bool decode_fixed(const EventPlan& plan);
  bool decode_field(const FieldPlan& field);
  bool read_text(const Type& type, std::string* text);
  bool read_list(const Type& type, const FieldPlan& field);
  void update_clock(std::uint64_t value, std::uint32_t bits);
  void set_thread(std::int64_t process, std::int64_t thread, std::string_view name);

  /// Reads integers of a structure by name, at any depth, and skips all else.
  template <typename Visitor>
  bool walk(const Type& type, const std::string& name, int slot, Visitor& visitor);
  bool skip(const Type& type, int slot);
  [[nodiscard]] std::optional<std::uint64_t> length_of(const Type& type) const;
  [[nodiscard]] std::uint64_t number(const FixedNumber& number) const;

  void give_up_packet(std::string_view reason);
  void give_up_stream(std::string_view reason, std::uint64_t bytes);
  void add_fault(std::string_view reason, std::uint64_t bytes);

  const TraceContext& trace_;
  std::span<const std::uint8_t> bytes_;
  std::string name_;
  const StreamPlan* plan_ = nullptr;

  std::uint64_t packet_begin_ = 0;
  std::uint64_t packet_end_ = 0;
  bool in_packet_ = false;
  Cursor cursor_;
  std::uint64_t clock_ = 0;
  struct PacketContext {
    std::uint64_t begin = 0;
    std::uint64_t content_size = 0;
    std::uint64_t packet_size = 0;
    std::optional<std::uint64_t> sequence;
    std::uint64_t discarded = 0;
    std::uint32_t discarded_bits = 64;
    std::uint64_t processor = 0;
  };
  PacketContext packet_;
  std::optional<PacketContext> previous_;
  std::uint32_t processor_ = 0;

  Event event_;
  Payload payload_;
  bool has_payload_ = false;
  std::int64_t last_time_ = 0;
  std::vector<std::uint64_t> slots_;
  std::vector<std::uint64_t> counts_;

  /// The thread of the event before, which mostly is that of the next one.
  struct {
    bool known = false;
    std::int64_t process = 0;
    std::int64_t thread = 0;
    std::string name;
    ThreadIndex index;
  } last_thread_;
};

}  // namespace takt::events::ctf
