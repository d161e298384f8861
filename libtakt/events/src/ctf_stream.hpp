#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ctf_cursor.hpp"
#include "ctf_losses.hpp"
#include "ctf_plan.hpp"
#include "takt/events/event.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::events::ctf {

/// Begins every packet of events (CTF 1.8.3, section 5.1).
inline constexpr std::uint32_t packet_magic = 0xc1fc1fc1;

/// The streams of a trace share this.
struct TraceContext {
  const TracePlan* plan = nullptr;
  HostIndex host;
  /// The source's time line less the trace's clock.
  Duration shift{};
  /// The process of the whole trace. LTTng sets it if each process has a buffer of its own; events
  /// then need not repeat it.
  std::int64_t process_id = 0;
  /// That of its number, as a recorder knows it that writes a trace for each process; 0: not known.
  std::uint64_t name_space = 0;
  std::string process_name;
  /// Its recorder makes a file with the first packet of the stream; others do so before.
  bool never_empty = false;
  /// Names of its files that are known to be shorter than they were, and for which it is counted.
  std::set<std::string> shorter;
  /// Identifies the trace in its source. Traces with the same UUID share it.
  std::size_t number = 0;
};

/// A piece of a stream, decoded. It stands alone, so that streams can be decoded at the same time:
/// threads are numbered within the chunk.
struct Chunk {
  /// Keeps it cheap to find the thread of an event.
  static constexpr std::size_t most_threads = 256;

  struct Thread {
    ProcessId process = 0;
    std::int64_t id = 0;
    std::string name;
  };

  /// In time order. Event::thread is a position in `threads`.
  std::vector<Event> events;
  std::vector<Payload> payloads;
  /// A thread that takes another name has another entry here.
  std::vector<Thread> threads;
  /// Events by their position in the plan, those of unknown types included.
  std::vector<std::uint64_t> counts;
  const StreamPlan* plan = nullptr;
  StreamLosses losses;
  std::size_t payload_bytes = 0;
  /// It has so many threads or bytes of payloads that the next event goes into another chunk.
  bool is_full = false;
  /// Packets that were left out (Stream::leave_out).
  std::uint64_t repeated_packets = 0;
  /// Largest number of a processor that occurs, plus one.
  std::uint32_t processors = 0;
  /// Bytes of the stream that are done with.
  std::uint64_t position = 0;
  /// Bytes of the stream that have been looked at, and so are in the processor's cache.
  std::uint64_t decoded = 0;
  bool is_last = false;
  /// The last chunk has this, if the file has a packet. Losses of chunks are those within the file.
  std::optional<StreamPart> part;

  void clear();
};

/// Decodes the packets of one stream file. Trusts nothing in it: what cannot be decoded is skipped
/// as far as the next packet, or to the end where the packets' sizes make no sense, and counted.
class Stream {
 public:
  /// A chunk ends when it has the most events or is full, and at the latest after about so many
  /// bytes of the stream.
  static constexpr std::uint64_t chunk_bytes = std::uint64_t{4} << 20;

  /// `name` is what messages call the file.
  Stream(const TraceContext& trace, std::span<const std::uint8_t> bytes, std::string name);

  /// Replaces the chunk by the next one, which may hold no event of a known type.
  void read(Chunk& chunk);

  /// A packet and its place in the file.
  struct Packet {
    std::uint64_t begin = 0;
    std::uint64_t content_size = 0;  // bits
    StreamPart place;                // first and last are this packet's
  };
  /// Goes to the next packet without a look at its events; none after the last readable one. Not
  /// together with read().
  std::optional<Packet> next_packet();
  /// read() passes over the packets that begin at these bytes.
  void leave_out(std::set<std::uint64_t> packets) { left_out_ = std::move(packets); }

 private:
  bool open_packet();
  bool read_packet_header(Cursor& cursor, std::uint64_t& stream_id,
                          std::optional<std::uint64_t>& instance);
  void read_packet_context(Cursor& cursor);
  void decode_event();
  bool decode_header(std::uint64_t& id);
  bool decode_other_header(std::uint64_t& id);
  bool decode_context(bool is_known);
  bool decode_fields(const EventPlan& plan);
  bool decode_fixed(const EventPlan& plan);
  bool decode_foreign(const EventPlan& plan);
  /// Appends what is at the cursor as JSON.
  bool append_json(const Type& type, int slot, std::string& json);
  bool append_json_list(const Type& type, std::string& json);
  bool decode_field(const FieldPlan& field, Payload& payload);
  bool read_text(const Type& type, std::string* text);
  bool read_list(const Type& type, const FieldPlan& field, Payload& payload);
  void update_clock(std::uint64_t value, std::uint32_t bits);
  void set_processor(std::uint64_t processor);
  void set_thread(ProcessId process, std::int64_t thread, std::string_view name);

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
    PacketCounters counters;
    std::uint64_t content_size = 0;
    std::uint64_t packet_size = 0;
    std::uint64_t processor = 0;
  };
  PacketContext packet_;
  /// The packets so far.
  std::optional<StreamPart> part_;
  std::set<std::uint64_t> left_out_;

  Chunk* chunk_ = nullptr;
  Event event_;
  Instant last_time_ = Instant::min();
  std::vector<std::uint64_t> slots_;
};

}  // namespace takt::events::ctf
