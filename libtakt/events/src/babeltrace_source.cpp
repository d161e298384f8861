#include "babeltrace_source.hpp"

#include <babeltrace2/babeltrace.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "clock.hpp"
#include "layout.hpp"
#include "takt/base/try.hpp"
#include "takt/events/schema.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

template <typename T, void (*release)(const T*)>
struct Releaser {
  void operator()(const T* object) const { release(object); }
};
using Graph = std::unique_ptr<const bt_graph, Releaser<bt_graph, bt_graph_put_ref>>;
using Plugin = std::unique_ptr<const bt_plugin, Releaser<bt_plugin, bt_plugin_put_ref>>;
using Value = std::unique_ptr<const bt_value, Releaser<bt_value, bt_value_put_ref>>;

/// The root cause of the library's current error, which is cleared.
std::string take_error() {
  const bt_error* const current = bt_current_thread_take_error();
  if (current == nullptr) {
    return "unknown error";
  }
  std::string cause = bt_error_cause_get_message(bt_error_borrow_cause_by_index(current, 0));
  bt_error_release(current);
  return cause;
}

Result<Plugin> find_plugin(const char* name) {
  const bt_plugin* plugin = nullptr;
  if (bt_plugin_find(name, BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
      BT_PLUGIN_FIND_STATUS_OK) {
    bt_current_thread_clear_error();
    return error("babeltrace2's plugin '{}' is missing; install the package libbabeltrace2-0",
                 name);
  }
  return Plugin(plugin);
}

std::int64_t integer(const bt_field* field) {
  const auto type = bt_field_get_class_type(field);
  if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
    return static_cast<std::int64_t>(bt_field_integer_unsigned_get_value(field));
  }
  if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
    return bt_field_integer_signed_get_value(field);
  }
  return 0;
}

std::string_view text(const bt_field* field) {
  return bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRING
             ? std::string_view(bt_field_string_get_value(field), bt_field_string_get_length(field))
             : std::string_view();
}

std::uint64_t array_length(const bt_field* field) {
  return bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_ARRAY)
             ? bt_field_array_get_length(field)
             : 0;
}

std::uint64_t element(const bt_field* array, std::uint64_t position) {
  return static_cast<std::uint64_t>(
      integer(bt_field_array_borrow_element_field_by_index_const(array, position)));
}

const bt_field* member(const bt_field* structure, const char* name) {
  return structure == nullptr
             ? nullptr
             : bt_field_structure_borrow_member_field_by_name_const(structure, name);
}

/// Tells which fields of an event class go into our record.
struct Layout {
  std::string name;
  std::optional<EventType> type;
  std::uint64_t count = 0;
  /// For each field of the schema its position in the payload structure, if the trace has it.
  std::vector<std::optional<std::uint64_t>> positions;
};

/// All streams of one trace share this.
struct TraceState {
  HostIndex host;
  ClockScale clock;
  Duration shift{};
  /// Set in traces with one buffer for each process, whose events need not repeat it.
  std::optional<std::int64_t> process_id;
  std::string process_name;
};

class BabeltraceSource final : public EventStream {
 public:
  BabeltraceSource(std::vector<Input> inputs, std::vector<TemporaryDirectory> unpacked)
      : unpacked_(std::move(unpacked)) {
    inputs_ = std::move(inputs);
  }

  Result<void> build(const std::vector<fs::path>& directories, const ClockCorrections& corrections);
  void look_ahead(std::function<Threads::LastEvents()> find) {
    threads_.look_ahead(std::move(find));
  }

  bool read(Batch& batch) override {
    batch.clear();
    batch_ = &batch;
    while (!ended_ && batch.events.empty()) {
      const auto status = bt_graph_run_once(graph_mutable_);
      if (status == BT_GRAPH_RUN_ONCE_STATUS_END) {
        ended_ = true;
      } else if (status != BT_GRAPH_RUN_ONCE_STATUS_OK &&
                 status != BT_GRAPH_RUN_ONCE_STATUS_AGAIN) {
        losses_.faults.push_back("reading stopped: " + take_error());
        ended_ = true;
      }
    }
    return !batch.events.empty();
  }

  Position position() const override { return {}; }

  std::map<std::string, std::uint64_t> counts() const override {
    std::map<std::string, std::uint64_t> result;
    for (const auto& [event_class, layout] : layouts_) {
      if (layout.count != 0) {
        result[layout.name] += layout.count;
      }
    }
    return result;
  }

 private:
  Result<const bt_component_source*> add_trace(const bt_component_class_source* component,
                                               const fs::path& directory, std::size_t number,
                                               Duration correction);
  bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator* iterator);
  void add_event(const bt_message* message);
  void add_fields(const Layout& layout, const bt_field* fields, Event& event);
  TraceState& state_of(const bt_trace* trace, const bt_clock_class* clock);
  Layout& layout_of(const bt_event_class* event_class);

  std::vector<TemporaryDirectory> unpacked_;
  Graph graph_;
  bt_graph* graph_mutable_ = nullptr;
  Batch* batch_ = nullptr;
  std::size_t payload_bytes_ = 0;  // of the batch
  bool ended_ = false;
  std::unordered_map<const bt_event_class*, Layout> layouts_;
  std::unordered_map<const bt_trace*, TraceState> traces_;
};

Result<const bt_component_source*> BabeltraceSource::add_trace(
    const bt_component_class_source* component, const fs::path& directory, std::size_t number,
    Duration correction) {
  // libbabeltrace2 2.0 never returns from metadata that ends in the middle of a packet.
  TAKT_TRY(read_metadata(directory));
  const Value parameters(bt_value_map_create());
  auto* const map = const_cast<bt_value*>(parameters.get());
  bt_value* list = nullptr;
  const bt_component_source* added = nullptr;
  if (bt_value_map_insert_empty_array_entry(map, "inputs", &list) !=
          BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
      bt_value_array_append_string_element(list, directory.c_str()) !=
          BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
      bt_value_map_insert_signed_integer_entry(map, "clock-class-offset-ns", correction.count()) !=
          BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
      bt_graph_add_source_component(
          graph_mutable_, component, fmt::format("trace-{}", number).c_str(), map,
          BT_LOGGING_LEVEL_NONE, &added) != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
    return error("{}: not a readable CTF trace: {}", directory.string(), take_error());
  }
  return added;
}

Result<void> BabeltraceSource::build(const std::vector<fs::path>& directories,
                                     const ClockCorrections& corrections) {
  bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
  auto ctf = find_plugin("ctf");
  auto utilities = find_plugin("utils");
  if (!ctf || !utilities) {
    return tl::unexpected(ctf ? utilities.error() : ctf.error());
  }
  graph_mutable_ = bt_graph_create(0);
  graph_ = Graph(graph_mutable_);
  const bt_component_filter* muxer = nullptr;
  const bt_component_sink* sink = nullptr;
  const auto consume = [](bt_message_iterator* iterator, void* self) {
    return static_cast<BabeltraceSource*>(self)->consume(iterator);
  };
  const bool made =
      bt_graph_add_filter_component(
          graph_mutable_,
          bt_plugin_borrow_filter_component_class_by_name_const(utilities->get(), "muxer"), "muxer",
          nullptr, BT_LOGGING_LEVEL_NONE, &muxer) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
      bt_graph_add_simple_sink_component(graph_mutable_, "sink", nullptr, consume, nullptr, this,
                                         &sink) == BT_GRAPH_ADD_COMPONENT_STATUS_OK;
  if (!made) {
    return error("babeltrace2: {}", take_error());
  }
  const bt_component_class_source* const reader =
      bt_plugin_borrow_source_component_class_by_name_const(ctf->get(), "fs");
  bool connected = true;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const auto trace = TAKT_TRY(add_trace(reader, directories[i], i, corrections[i]));
    for (std::uint64_t port = 0; port < bt_component_source_get_output_port_count(trace); ++port) {
      connected =
          connected &&
          bt_graph_connect_ports(graph_mutable_,
                                 bt_component_source_borrow_output_port_by_index_const(trace, port),
                                 bt_component_filter_borrow_input_port_by_index_const(
                                     muxer, bt_component_filter_get_input_port_count(muxer) - 1),
                                 nullptr) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
    }
  }
  connected = connected &&
              bt_graph_connect_ports(
                  graph_mutable_, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
                  bt_component_sink_borrow_input_port_by_index_const(sink, 0),
                  nullptr) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
  if (!connected) {
    return error("babeltrace2: {}", take_error());
  }
  return {};
}

bt_graph_simple_sink_component_consume_func_status BabeltraceSource::consume(
    bt_message_iterator* iterator) {
  payload_bytes_ = 0;
  while (batch_->events.size() < most_events && payload_bytes_ < most_payload_bytes) {
    bt_message_array_const messages = nullptr;
    std::uint64_t count = 0;
    switch (bt_message_iterator_next(iterator, &messages, &count)) {
      case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
        break;
      case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
      case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
      default:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const bt_message* const message = messages[i];
      std::uint64_t lost = 0;
      switch (bt_message_get_type(message)) {
        case BT_MESSAGE_TYPE_EVENT:
          add_event(message);
          break;
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
          losses_.discarded_events += bt_message_discarded_events_get_count(message, &lost) ==
                                              BT_PROPERTY_AVAILABILITY_AVAILABLE
                                          ? lost
                                          : 1;
          break;
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
          losses_.discarded_packets += bt_message_discarded_packets_get_count(message, &lost) ==
                                               BT_PROPERTY_AVAILABILITY_AVAILABLE
                                           ? lost
                                           : 1;
          break;
        default:
          break;
      }
      bt_message_put_ref(message);
    }
  }
  return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

TraceState& BabeltraceSource::state_of(const bt_trace* trace, const bt_clock_class* clock) {
  const auto [entry, is_new] = traces_.try_emplace(trace);
  TraceState& state = entry->second;
  if (!is_new) {
    return state;
  }
  const auto environment = [trace](const char* name) {
    return bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
  };
  const bt_value* const host = environment("hostname");
  std::string boot;
  if (const bt_uuid uuid = bt_clock_class_get_uuid(clock); uuid != nullptr) {
    for (std::size_t i = 0; i < 16; ++i) {
      boot += fmt::format("{:02x}", uuid[i]);
    }
  }
  state.host = threads_.host(
      host != nullptr && bt_value_is_string(host) ? bt_value_string_get(host) : "", boot);
  if (const bt_value* const id = environment("vpid");
      id != nullptr && bt_value_is_signed_integer(id)) {
    state.process_id = bt_value_integer_signed_get(id);
  }
  if (const bt_value* const name = environment("procname");
      name != nullptr && bt_value_is_string(name)) {
    state.process_name = bt_value_string_get(name);
  }
  std::int64_t seconds = 0;
  std::uint64_t cycles = 0;
  bt_clock_class_get_offset(clock, &seconds, &cycles);
  state.clock.frequency = bt_clock_class_get_frequency(clock);
  state.shift = shift_of(state.host, state.clock.offset(seconds, cycles));
  return state;
}

Layout& BabeltraceSource::layout_of(const bt_event_class* event_class) {
  const auto [entry, is_new] = layouts_.try_emplace(event_class);
  Layout& layout = entry->second;
  if (!is_new) {
    return layout;
  }
  const char* const name = bt_event_class_get_name(event_class);
  layout.name = name == nullptr ? "unnamed" : name;
  layout.type = event_type(layout.name);
  const bt_field_class* const payload =
      bt_event_class_borrow_payload_field_class_const(event_class);
  if (!layout.type || payload == nullptr) {
    return layout;
  }
  for (const Field& field : schema(*layout.type).fields) {
    auto& position = layout.positions.emplace_back();
    for (std::uint64_t i = 0; i < bt_field_class_structure_get_member_count(payload); ++i) {
      if (field.name == bt_field_class_structure_member_get_name(
                            bt_field_class_structure_borrow_member_by_index_const(payload, i))) {
        position = i;
      }
    }
  }
  return layout;
}

void BabeltraceSource::add_event(const bt_message* message) {
  const bt_event* const source = bt_message_event_borrow_event_const(message);
  Layout& layout = layout_of(bt_event_borrow_class_const(source));
  ++layout.count;
  const bt_stream* const stream = bt_event_borrow_stream_const(source);
  const bt_clock_class* const clock =
      bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream));
  if (!layout.type || clock == nullptr) {
    return;
  }
  const TraceState& trace = state_of(bt_stream_borrow_trace_const(stream), clock);
  Event& event = batch_->events.emplace_back();
  event.type = *layout.type;
  event.time = Instant(trace.clock.time(bt_clock_snapshot_get_value(
                           bt_message_event_borrow_default_clock_snapshot_const(message))) +
                       trace.shift);

  const bt_field* const context = bt_event_borrow_common_context_field_const(source);
  const bt_field* const process = member(context, "vpid");
  const bt_field* const name_space = member(context, "pid_ns");
  const bt_field* const thread = member(context, "vtid");
  const bt_field* const name = member(context, "procname");
  const std::int64_t process_id =
      process != nullptr ? integer(process) : trace.process_id.value_or(0);
  event.thread = threads_.thread(
      trace.host,
      {process_id, name_space != nullptr ? static_cast<std::uint64_t>(integer(name_space)) : 0},
      thread != nullptr ? integer(thread) : process_id,
      name != nullptr ? text(name) : trace.process_name);
  const bt_field* processor = member(context, "cpu_id");
  if (const bt_packet* const packet =
          bt_stream_class_supports_packets(bt_stream_borrow_class_const(stream))
              ? bt_event_borrow_packet_const(source)
              : nullptr;
      processor == nullptr && packet != nullptr) {
    processor = member(bt_packet_borrow_context_field_const(packet), "cpu_id");
  }
  if (processor != nullptr) {
    event.cpu = static_cast<std::uint16_t>(
        std::min(static_cast<std::uint64_t>(integer(processor)), largest_processor));
    processors_ = std::max(processors_, event.cpu + 1u);
  }
  if (const bt_field* const payload = bt_event_borrow_payload_field_const(source);
      payload != nullptr) {
    add_fields(layout, payload, event);
    payload_bytes_ += batch_->payload(event).bytes();
  }
}

void BabeltraceSource::add_fields(const Layout& layout, const bt_field* fields, Event& event) {
  const auto payload = [&]() -> Payload& {
    if (event.payload == no_payload) {
      event.payload = static_cast<std::uint32_t>(batch_->payloads.size());
      batch_->payloads.emplace_back();
    }
    return batch_->payloads[event.payload];
  };
  const Schema& known = schema(event.type);
  for (std::size_t i = 0; i < layout.positions.size(); ++i) {
    const auto& position = layout.positions[i];
    const bt_field* const field =
        position ? bt_field_structure_borrow_member_field_by_index_const(fields, *position)
                 : nullptr;
    const std::size_t place = known.fields[i].position;
    switch (known.fields[i].kind) {
      case FieldKind::number:
      case FieldKind::handle:
        event.values[place] = field == nullptr ? 0 : static_cast<std::uint64_t>(integer(field));
        break;
      case FieldKind::gid: {
        const std::uint64_t length =
            field == nullptr ? 0 : std::min<std::uint64_t>(array_length(field), 16);
        for (std::uint64_t byte = 0; byte < length; ++byte) {
          event.values[place + byte / 8] |= (element(field, byte) & 0xff) << (56 - 8 * (byte % 8));
        }
        break;
      }
      case FieldKind::text:
        payload().texts[place] = field == nullptr ? std::string_view() : text(field);
        break;
      case FieldKind::list: {
        auto& list = payload().lists[place];
        const std::uint64_t length = field == nullptr ? 0 : array_length(field);
        const std::uint64_t kept = std::min(length, longest_list);
        for (std::uint64_t k = 0; k < kept; ++k) {
          list.push_back(element(field, k));
        }
        losses_.cut_elements += length - kept;
        break;
      }
    }
  }
}

}  // namespace

Result<std::unique_ptr<EventStream>> open_with_babeltrace(
    const std::vector<fs::path>& directories, const ClockCorrections& corrections,
    std::vector<Input> inputs, std::vector<TemporaryDirectory> unpacked) {
  auto source = std::make_unique<BabeltraceSource>(std::move(inputs), std::move(unpacked));
  TAKT_TRY(source->build(directories, corrections));
  source->look_ahead([directories, corrections] {
    Threads::LastEvents last;
    const auto all = open_with_babeltrace(directories, corrections, {}, {});
    Batch batch;
    while (all && (*all)->read(batch)) {
      const Threads& threads = (*all)->threads();
      for (const Event& event : batch.events) {
        const Process& process = threads[threads[event.thread].process];
        last.note({process.host, process.id, 0}, event.time);
      }
    }
    return last;
  });
  return source;
}

ClockCorrections clock_corrections(const std::vector<fs::path>& directories) {
  ClockCorrections corrections;
  std::map<std::pair<std::string, std::string>, Duration> offsets;  // by host
  for (const fs::path& directory : directories) {
    Duration& correction = corrections.emplace_back();
    const auto source = open_with_babeltrace({directory}, {Duration{0}}, {}, {});
    Batch batch;
    if (source && (*source)->read(batch)) {
      const Host& host = (*source)->threads().hosts().front();
      const Duration offset = (*source)->epoch_offset();
      correction = offsets.try_emplace({host.name, host.clock}, offset).first->second - offset;
    }
  }
  return corrections;
}

}  // namespace takt::events
