#include "takt/model/names.hpp"

#include <array>
#include <string>
#include <utility>

namespace takt::model {

namespace {

template <typename Kind, std::size_t N>
using Names = std::array<std::pair<Kind, std::string_view>, N>;

constexpr Names<ExecutorKind, 9> executor_kinds{{
    {ExecutorKind::single_threaded, "single_threaded"},
    {ExecutorKind::multi_threaded, "multi_threaded"},
    {ExecutorKind::events, "events"},
    {ExecutorKind::fixed_priority, "fixed_priority"},
    {ExecutorKind::edf, "edf"},
    {ExecutorKind::chain_priority, "chain_priority"},
    {ExecutorKind::graph_aware, "graph_aware"},
    {ExecutorKind::table_driven, "table_driven"},
    {ExecutorKind::event_source, "event_source"},
}};

constexpr Names<TimerHandling, 2> timer_handlings{{
    {TimerHandling::polled, "polled"},
    {TimerHandling::privileged, "privileged"},
}};

constexpr Names<CallbackKind, 6> callback_kinds{{
    {CallbackKind::timer, "timer"},
    {CallbackKind::subscription, "subscription"},
    {CallbackKind::service, "service"},
    {CallbackKind::client, "client"},
    {CallbackKind::waitable, "waitable"},
    {CallbackKind::event_source, "event_source"},
}};

constexpr Names<JoinKind, 2> join_kinds{{
    {JoinKind::and_, "and"},
    {JoinKind::newest, "newest"},
}};

constexpr const auto& names_of(ExecutorKind) { return executor_kinds; }
constexpr const auto& names_of(TimerHandling) { return timer_handlings; }
constexpr const auto& names_of(CallbackKind) { return callback_kinds; }
constexpr const auto& names_of(JoinKind) { return join_kinds; }

template <typename Kind>
std::string_view name_of(Kind kind) {
  for (const auto& [value, name] : names_of(kind)) {
    if (value == kind) return name;
  }
  return "";
}

}  // namespace

std::string_view to_string(ExecutorKind kind) { return name_of(kind); }
std::string_view to_string(TimerHandling timers) { return name_of(timers); }
std::string_view to_string(CallbackKind kind) { return name_of(kind); }
std::string_view to_string(JoinKind kind) { return name_of(kind); }

template <typename Kind>
std::optional<Kind> from_string(std::string_view name) {
  for (const auto& [value, known] : names_of(Kind{})) {
    if (known == name) return value;
  }
  return std::nullopt;
}

template <typename Kind>
std::string all_names() {
  std::string list;
  for (const auto& [value, name] : names_of(Kind{})) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

template std::optional<ExecutorKind> from_string<ExecutorKind>(std::string_view);
template std::optional<TimerHandling> from_string<TimerHandling>(std::string_view);
template std::optional<CallbackKind> from_string<CallbackKind>(std::string_view);
template std::optional<JoinKind> from_string<JoinKind>(std::string_view);
template std::string all_names<ExecutorKind>();
template std::string all_names<TimerHandling>();
template std::string all_names<CallbackKind>();
template std::string all_names<JoinKind>();

}  // namespace takt::model
