#include "takt/executor/announcement.hpp"

#include <variant>
#include <vector>

#include "takt/linux/affinity.hpp"
#include "tracing_functions.hpp"

namespace takt::executor {

void announce(const Announcement& executor) {
  // A local copy, because the compiler may take the address of a declared function as never null.
  auto* const volatile trace = TAKT_TRACING_FUNCTION(takt_trace_executor_init);
  if (trace == nullptr) return;
  const linux_os::ThreadScheduling scheduling =
      linux_os::get_scheduling(0).value_or(linux_os::OtherScheduling{});
  linux_os::DeadlineScheduling reservation;
  std::int64_t priority = 0;
  if (const auto* deadline = std::get_if<linux_os::DeadlineScheduling>(&scheduling)) {
    reservation = *deadline;
  } else if (const auto* fifo = std::get_if<linux_os::FifoScheduling>(&scheduling)) {
    priority = fifo->priority;
  } else if (const auto* round_robin = std::get_if<linux_os::RoundRobinScheduling>(&scheduling)) {
    priority = round_robin->priority;
  }
  const std::vector<int> processors = linux_os::affinity(0).value_or(std::vector<int>{});
  trace(executor.id.c_str(), executor.kind.c_str(), executor.timers.c_str(), executor.threads,
        linux_os::policy_name(scheduling), reservation.runtime.count(),
        reservation.deadline.count(), reservation.period.count(), priority,
        processors.size() == 1 ? processors.front() : -1);
}

void announce_outside() { announce({.id = "outside", .kind = "outside", .timers = "polled"}); }

void announce_gate() { announce({.id = "takt_gate", .kind = "gate", .timers = "polled"}); }

namespace {

void announce_callback(const void* callback, const rcl_node_t* node, const char* kind,
                       Duration period) {
  auto* const volatile trace = TAKT_TRACING_FUNCTION(takt_trace_callback_init);
  if (trace != nullptr) trace(callback, node, kind, period.count());
}

}  // namespace

void announce_waitable(const void* callback, const rcl_node_t* node) {
  announce_callback(callback, node, "waitable", Duration{0});
}

void announce_event_source(const void* callback, const rcl_node_t* node, Duration period) {
  announce_callback(callback, node, "event_source", period);
}

void announce_trigger(const void* callback) {
  auto* const volatile trace = TAKT_TRACING_FUNCTION(takt_trace_waitable_triggered);
  if (trace != nullptr) trace(callback);
}

void announce_link_send(std::span<const std::uint8_t> writer, std::int64_t timestamp) {
  auto* const volatile trace = TAKT_TRACING_FUNCTION(takt_trace_link_send);
  if (trace != nullptr) trace(writer.data(), timestamp);
}

void announce_link_receive(std::span<const std::uint8_t> writer, std::int64_t timestamp) {
  auto* const volatile trace = TAKT_TRACING_FUNCTION(takt_trace_link_receive);
  if (trace != nullptr) trace(writer.data(), timestamp);
}

void announce_all_links(const std::vector<InputLink>& links) {
  auto* const volatile link_inputs = TAKT_TRACING_FUNCTION(takt_trace_inputs_linked);
  auto* const volatile declare = TAKT_TRACING_FUNCTION(takt_trace_links_declared);
  if (link_inputs == nullptr || declare == nullptr) return;
  for (const InputLink& link : links) {
    std::vector<const void*> callbacks;
    for (const Executable* input : link.inputs) callbacks.push_back(input->traced_callback());
    link_inputs(link.how.c_str(), callbacks.data(), callbacks.size(),
                link.reader == nullptr ? nullptr : link.reader->traced_callback());
  }
  declare(links.size());
}

}  // namespace takt::executor
