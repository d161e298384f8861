#include "takt/perfetto/trace_writer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fields.hpp"
#include "packet_file.hpp"
#include "takt/base/grow.hpp"
#include "takt/events/fields.hpp"
#include "takt/execution/names.hpp"
#include "tracks.hpp"

namespace takt::perfetto {
namespace {

using events::Event;
using events::EventType;
using execution::CallbackInstance;
using execution::Database;
using execution::InstanceId;
using execution::ObservedCallbackIndex;
using execution::Publication;
using execution::PublicationId;

/// The one sequence of packets that shares names.
constexpr std::uint32_t sequence = 1;
/// A bundle of the scheduler's events is written when it has grown beyond this.
constexpr std::size_t bundle_size = 1 << 16;
/// At most this many instances wait for a publication that comes later, as the clocks of hosts
/// differ.
constexpr std::size_t most_unmatched = 1 << 16;

/// The processors of a host count from so many above those of the host before: Perfetto has one
/// list of processors, with at most 4096.
constexpr std::uint32_t processors_of_a_host = 256;

/// Perfetto's default clock is CLOCK_BOOTTIME. Trace clocks count CLOCK_MONOTONIC, which differs
/// from it by the time that the host slept: none while it was recorded.
std::uint64_t timestamp(Instant time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

std::int64_t processor(events::HostIndex host, std::int64_t cpu) {
  return cpu + static_cast<std::int64_t>(host.value()) * processors_of_a_host;
}

}  // namespace

class TraceWriter::Implementation {
 public:
  Implementation(const std::filesystem::path& path, const events::EventStream& source)
      : source_(source), file_(path), tracks_(source.threads(), file_) {}

  void add(const Event& event, const events::Batch& batch);
  void add(const Database& database, const CallbackInstance& instance);
  void add(const Database& database, const Publication& publication);
  void link(const Database& database, InstanceId instance, PublicationId source);
  Result<void> finish(const Database& database, const std::vector<std::string>& warnings);

 private:
  enum class Category : std::uint64_t { callback = 1, publication, message };

  /// Names are written once and then referred to by number; 1 and up.
  std::uint64_t name(const std::string& text);
  std::uint64_t callback_name(const execution::Objects& objects, ObservedCallbackIndex callback);
  std::uint64_t publication_name(const execution::Objects& objects, execution::TopicIndex topic);

  void begin_trace(Instant time);
  void begin_slice(const Database& database, const CallbackInstance& instance);
  void write(Instant time, Message event, events::ThreadIndex thread);
  /// Adds an event of the scheduler, on behalf of a thread, to those of its processor.
  void write_scheduled(const Event& event, std::int64_t thread, Message scheduled);
  void write_bundle(std::uint32_t processor, Message& events);
  [[nodiscard]] events::HostIndex host_of(const Event& event) const;

  const events::EventStream& source_;
  PacketFile file_;
  Tracks tracks_;
  bool begun_ = false;
  std::optional<Instant> first_;

  std::unordered_map<std::string, std::uint64_t> names_;
  Message new_names_;
  execution::CallbackIds callback_ids_;
  std::vector<std::uint64_t> callback_names_;     // 0: not known yet
  std::vector<std::uint64_t> publication_names_;  // likewise
  std::map<std::uint32_t, Message> bundles_;      // by processor
  /// The end of an arrow whose beginning is not known yet.
  struct End {
    Instant time;
    events::ThreadIndex thread;
  };
  std::unordered_map<InstanceId, End> unmatched_;
};

std::uint64_t TraceWriter::Implementation::name(const std::string& text) {
  const auto [entry, is_new] = names_.try_emplace(text, names_.size() + 1);
  if (is_new) {
    new_names_.message(
        interned_data::event_names,
        Message().number(interned_data::iid, entry->second).text(interned_data::name, text));
  }
  return entry->second;
}

std::uint64_t TraceWriter::Implementation::callback_name(const execution::Objects& objects,
                                                         ObservedCallbackIndex callback) {
  std::uint64_t& known = grow_to(callback_names_, callback);
  if (known == 0) {
    known = name(callback_ids_.of(objects, callback));
  }
  return known;
}

std::uint64_t TraceWriter::Implementation::publication_name(const execution::Objects& objects,
                                                            execution::TopicIndex topic) {
  std::uint64_t& known = grow_to(publication_names_, topic);
  if (known == 0) {
    known = name("publish " + objects[topic]);
  }
  return known;
}

void TraceWriter::Implementation::begin_trace(Instant time) {
  begun_ = true;
  const auto clock = [](std::uint32_t id, Instant value) {
    return Message()
        .number(clock_snapshot::clock_id, id)
        .number(clock_snapshot::timestamp, timestamp(value));
  };
  file_.add(Message().message(
      trace_packet::clock_snapshot,
      Message()
          .message(clock_snapshot::clocks, clock(clock_snapshot::boottime, time))
          .message(clock_snapshot::clocks, clock(clock_snapshot::monotonic, time))
          .message(clock_snapshot::clocks,
                   clock(clock_snapshot::realtime, time + source_.epoch_offset()))));
  Message categories;
  for (const auto& [category, text] :
       {std::pair(Category::callback, "callback"), std::pair(Category::publication, "publication"),
        std::pair(Category::message, "message")}) {
    categories.message(interned_data::event_categories,
                       Message()
                           .number(interned_data::iid, static_cast<std::uint64_t>(category))
                           .text(interned_data::name, text));
  }
  file_.add(Message()
                .number(trace_packet::trusted_packet_sequence_id, sequence)
                .number(trace_packet::sequence_flags, sequence_flag::incremental_state_cleared)
                .message(trace_packet::interned_data, categories));
}

void TraceWriter::Implementation::write(Instant time, Message event, events::ThreadIndex thread) {
  if (!begun_) {
    begin_trace(time);
  }
  event.number(track_event::track_uuid, tracks_.of(thread));
  Message packet;
  packet.number(trace_packet::timestamp, timestamp(time))
      .number(trace_packet::trusted_packet_sequence_id, sequence)
      .number(trace_packet::sequence_flags, sequence_flag::needs_incremental_state);
  if (!new_names_.empty()) {
    packet.message(trace_packet::interned_data, std::exchange(new_names_, {}));
  }
  file_.add(packet.message(trace_packet::track_event, event));
}

void TraceWriter::Implementation::begin_slice(const Database& database,
                                              const CallbackInstance& instance) {
  Message begin;
  begin.number(track_event::type, track_event::slice_begin)
      .number(track_event::category_iids, static_cast<std::uint64_t>(Category::callback))
      .number(track_event::name_iid, callback_name(database.objects(), instance.callback));
  if (instance.cpu_time) {
    begin.message(track_event::debug_annotations,
                  Message()
                      .text(debug_annotation::name, "cpu_time_ns")
                      .number(debug_annotation::int_value, instance.cpu_time->count()));
  }
  if (instance.source != PublicationId::none) {
    begin.fixed(track_event::terminating_flow_ids, static_cast<std::uint64_t>(instance.id));
  }
  write(instance.start, std::move(begin), instance.thread);
}

void TraceWriter::Implementation::add(const Database& database, const CallbackInstance& instance) {
  link(database, instance.id, instance.source);
  begin_slice(database, instance);
  write(instance.end, Message().number(track_event::type, track_event::slice_end), instance.thread);
  if (instance.taken && instance.source == PublicationId::none &&
      source_.threads().hosts().size() > 1 && unmatched_.size() < most_unmatched) {
    unmatched_[instance.id] = {instance.start, instance.thread};
  }
}

/// Writes the beginning of an arrow, and its end if that is late. A message may have several
/// receivers, so each arrow is a flow of its own.
void TraceWriter::Implementation::link(const Database& database, InstanceId instance,
                                       PublicationId source) {
  if (const Publication* const sent = database.publication(source)) {
    write(sent->sent,
          Message()
              .number(track_event::type, track_event::instant)
              .number(track_event::category_iids, static_cast<std::uint64_t>(Category::message))
              .number(track_event::name_iid, publication_name(database.objects(), sent->topic))
              .fixed(track_event::flow_ids, static_cast<std::uint64_t>(instance)),
          sent->thread);
  }
  if (const auto late = unmatched_.extract(instance)) {
    write(late.mapped().time,
          Message()
              .number(track_event::type, track_event::instant)
              .number(track_event::category_iids, static_cast<std::uint64_t>(Category::message))
              .number(track_event::name_iid, name("receive"))
              .fixed(track_event::terminating_flow_ids, static_cast<std::uint64_t>(instance)),
          late.mapped().thread);
  }
}

void TraceWriter::Implementation::add(const Database& database, const Publication& publication) {
  write(publication.begin,
        Message()
            .number(track_event::type, track_event::slice_begin)
            .number(track_event::category_iids, static_cast<std::uint64_t>(Category::publication))
            .number(track_event::name_iid, publication_name(database.objects(), publication.topic)),
        publication.thread);
  write(publication.sent, Message().number(track_event::type, track_event::slice_end),
        publication.thread);
}

void TraceWriter::Implementation::add(const Event& event, const events::Batch& batch) {
  if (!first_) {
    first_ = event.time;
  }
  const auto thread_id = [&](std::int32_t id) {
    // Every processor's idle thread has the number 0.
    return id == 0 ? std::int64_t{0} : Tracks::unique(host_of(event), id);
  };
  if (event.type == EventType::sched_switch) {
    const auto fields = events::fields_of<tracepoints::SchedSwitch>(event, batch);
    write_scheduled(
        event, thread_id(fields.prev_tid),
        Message().message(ftrace_event::sched_switch,
                          Message()
                              .text(sched_switch::prev_comm, fields.prev_comm)
                              .number(sched_switch::prev_pid, thread_id(fields.prev_tid))
                              .number(sched_switch::prev_prio, fields.prev_prio)
                              .number(sched_switch::prev_state, fields.prev_state)
                              .text(sched_switch::next_comm, fields.next_comm)
                              .number(sched_switch::next_pid, thread_id(fields.next_tid))
                              .number(sched_switch::next_prio, fields.next_prio)));
  } else if (event.type == EventType::sched_wakeup) {
    const auto fields = events::fields_of<tracepoints::SchedWakeup>(event, batch);
    // On whose behalf the kernel wakes a thread is not recorded.
    write_scheduled(event, 0,
                    Message().message(ftrace_event::sched_wakeup,
                                      Message()
                                          .text(sched_wakeup::comm, fields.comm)
                                          .number(sched_wakeup::pid, thread_id(fields.tid))
                                          .number(sched_wakeup::prio, fields.prio)
                                          .number(sched_wakeup::success, 1u)
                                          .number(sched_wakeup::target_cpu,
                                                  processor(host_of(event), fields.target_cpu))));
  }
}

events::HostIndex TraceWriter::Implementation::host_of(const Event& event) const {
  return source_.threads()[source_.threads()[event.thread].process].host;
}

void TraceWriter::Implementation::write_scheduled(const Event& event, std::int64_t thread,
                                                  Message scheduled) {
  if (!begun_) {
    begin_trace(event.time);
  }
  scheduled.number(ftrace_event::timestamp, timestamp(event.time))
      .number(ftrace_event::pid, thread);
  const auto here = static_cast<std::uint32_t>(processor(host_of(event), event.cpu));
  Message& bundle = bundles_[here];
  bundle.message(ftrace_event_bundle::event, scheduled);
  if (bundle.bytes().size() >= bundle_size) {
    write_bundle(here, bundle);
  }
}

void TraceWriter::Implementation::write_bundle(std::uint32_t processor, Message& events) {
  events.number(ftrace_event_bundle::cpu, processor);
  file_.add(Message().message(trace_packet::ftrace_events, std::exchange(events, {})));
}

Result<void> TraceWriter::Implementation::finish(const Database& database,
                                                 const std::vector<std::string>& warnings) {
  for (const CallbackInstance& open : database.open_instances()) {
    begin_slice(database, open);
  }
  for (auto& [processor, bundle] : bundles_) {
    if (!bundle.empty()) {
      write_bundle(processor, bundle);
    }
  }
  constexpr std::uint64_t track = std::uint64_t{1} << 41;
  if (!warnings.empty()) {
    file_.add(Message().message(trace_packet::track_descriptor,
                                Message()
                                    .number(track_descriptor::uuid, track)
                                    .text(track_descriptor::name, "Losses of this trace")));
  }
  for (const std::string& warning : warnings) {
    file_.add(
        Message()
            .number(trace_packet::timestamp, timestamp(first_.value_or(Instant())))
            .number(trace_packet::trusted_packet_sequence_id, sequence)
            .message(trace_packet::track_event, Message()
                                                    .number(track_event::type, track_event::instant)
                                                    .number(track_event::track_uuid, track)
                                                    .text(track_event::name, warning)));
  }
  return file_.close();
}

TraceWriter::TraceWriter(const std::filesystem::path& path, const events::EventStream& source)
    : implementation_(std::make_unique<Implementation>(path, source)) {}

TraceWriter::~TraceWriter() = default;

void TraceWriter::add(const events::Batch& batch) {
  for (const Event& event : batch.events) {
    implementation_->add(event, batch);
  }
}

void TraceWriter::on_instance(const Database& database, const CallbackInstance& instance) {
  implementation_->add(database, instance);
}

void TraceWriter::on_publication(const Database& database, const Publication& publication) {
  implementation_->add(database, publication);
}

void TraceWriter::on_late_source(const Database& database, InstanceId instance,
                                 PublicationId source) {
  implementation_->link(database, instance, source);
}

Result<void> TraceWriter::finish(const Database& database,
                                 const std::vector<std::string>& warnings) {
  return implementation_->finish(database, warnings);
}

}  // namespace takt::perfetto
