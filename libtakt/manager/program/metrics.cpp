#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "status.hpp"
#include "takt/base/printable.hpp"

namespace takt::manager {

namespace {

/// A label's value, with the characters that end it escaped.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

class Text {
 public:
  void family(std::string_view name, std::string_view kind, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   kind);
  }
  void value(double number) { fmt::format_to(std::back_inserter(text_), "{} {}\n", name_, number); }
  void value(std::string_view label, std::string_view of, double number,
             std::string_view more = "") {
    fmt::format_to(std::back_inserter(text_), "{}{{{}=\"{}\"{}}} {}\n", name_, label, escaped(of),
                   more, number);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
};

void promise_metrics(Text& text, const Promises& promises) {
  text.family("takt_chain_promises_kept_total", "counter",
              "Latencies within the bound that was in force.");
  for (const auto& [chain, account] : promises.accounts()) {
    text.value("chain", chain, static_cast<double>(account.kept));
  }
  text.family("takt_chain_promises_broken_total", "counter",
              "Latencies above the bound that was in force.");
  for (const auto& [chain, account] : promises.accounts()) {
    text.value("chain", chain, static_cast<double>(account.broken));
  }
  text.family("takt_chain_held_up_by_host_total", "counter",
              "Latencies above that bound by no more than the host took of the processors.");
  for (const auto& [chain, account] : promises.accounts()) {
    text.value("chain", chain, static_cast<double>(account.by_host));
  }
}

void chain_metrics(Text& text, const Status& status, const live::Monitor& monitor) {
  text.family("takt_chain_guaranteed", "gauge", "1 if the chain's goal is guaranteed.");
  for (const ChainDecision& chain : status.decision.chains) {
    text.value("chain", chain.id, chain.state == ChainState::guaranteed ? 1 : 0);
  }
  text.family("takt_chain_goal_seconds", "gauge", "The chain's latency goal.");
  for (const ChainDecision& chain : status.decision.chains) {
    if (chain.goal) text.value("chain", chain.id, seconds(*chain.goal));
  }
  text.family("takt_chain_bound_seconds", "gauge", "The bound of a guaranteed chain.");
  for (const ChainDecision& chain : status.decision.chains) {
    if (chain.bound) text.value("chain", chain.id, seconds(*chain.bound));
  }
  const auto& chains = monitor.model().chains;
  text.family("takt_chain_latency_seconds", "summary", "Latencies of the last seconds.");
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const auto figures = monitor.chains()[c].figures();
    if (figures.count == 0) continue;
    text.value("chain", chains[c].id, seconds(figures.p50), ",quantile=\"0.5\"");
    text.value("chain", chains[c].id, seconds(figures.p99), ",quantile=\"0.99\"");
    text.value("chain", chains[c].id, seconds(figures.max), ",quantile=\"1\"");
  }
  text.family("takt_chain_missed_total", "counter", "Latencies above the goal.");
  for (std::size_t c = 0; c < chains.size(); ++c) {
    text.value("chain", chains[c].id, static_cast<double>(monitor.chains()[c].missed()));
  }
}

}  // namespace

std::string metrics(const Status& status, const Promises& promises, const live::Monitor& monitor) {
  Text text;
  if (status.up) chain_metrics(text, status, monitor);
  promise_metrics(text, promises);
  text.family("takt_executor_share", "gauge", "What is reserved of a core for each thread.");
  for (const ReservationDecision& r : status.decision.reservations) {
    text.value("executor", r.executor, seconds(r.budget) / seconds(r.period));
  }
  text.family("takt_alert", "gauge", "1 for each alert: goal, gap, loss.");
  for (const live::Alert& alert : monitor.alerts()) {
    text.value("chain", alert.chain, 1, fmt::format(",kind=\"{}\"", to_string(alert.kind)));
  }
  text.family("takt_lost_events_total", "counter", "Events that were lost.");
  text.value(static_cast<double>(monitor.losses().discarded_events));
  text.family("takt_decisions_total", "counter", "Decisions since the start.");
  text.value(static_cast<double>(status.decisions));
  text.family("takt_manager_cpu_seconds_total", "counter", "Processor time of the manager.");
  text.value(status.cpu_seconds);
  text.family("takt_manager_planning_seconds_total", "counter", "The part of it for decisions.");
  text.value(status.planning_seconds_total);
  return text.take();
}

}  // namespace takt::manager
