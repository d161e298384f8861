#include "status.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "takt/base/json_or_null.hpp"
#include "takt/manager/json.hpp"
#include "takt/model/labels.hpp"

namespace takt::manager {

namespace {

/// By reason, how many messages of the window ended and could not be followed, or not yet.
Json unfollowed(const live::ChainWindow::Figures& figures, std::size_t waiting) {
  Json entry = Json::object();
  const auto add = [&](const char* reason, std::size_t count) {
    if (count != 0) entry[reason] = count;
  };
  add("a sender still runs", waiting);
  add("a sender was not seen to end", figures.sender_not_ended);
  add("a sender was not seen", figures.sender_unknown);
  return entry;
}

/// The measured figures of a chain by its name; empty if it is not in the model now.
Json measured(const live::Monitor& monitor, const std::string& name) {
  const auto& chains = monitor.model().chains;
  const auto found = std::ranges::find(chains, name, &model::Chain::id);
  if (found == chains.end()) return {};
  const auto chain = static_cast<std::size_t>(found - chains.begin());
  const auto& window = monitor.chains()[chain];
  const auto figures = window.figures();
  Json entry{{"count", figures.count},
             {"late", figures.missed},
             {"unfollowed", unfollowed(figures, monitor.waiting(chain))},
             {"total", window.total()},
             {"missed", window.missed()}};
  if (figures.count != 0) {
    entry["p50"] = figures.p50.count();
    entry["p99"] = figures.p99.count();
    entry["max"] = figures.max.count();
  }
  if (window.total() != 0) entry["worst"] = window.worst().count();
  return entry;
}

Json chains(const Status& status, const Promises& promises, const live::Monitor& monitor) {
  Json list = Json::array();
  for (const ChainDecision& chain : status.decision.chains) {
    list.push_back(to_json(chain));
    const auto& advice = status.advice;
    const bool is_advised =
        advice && advice->chain == chain.id && chain.state == ChainState::degraded;
    list.back()["needs"] = is_advised ? advice->needs : Json();
    list.back()["measured"] = measured(monitor, chain.id);
    const auto account = promises.accounts().find(chain.id);
    list.back()["promises"] = account == promises.accounts().end()
                                  ? to_json(PromiseAccount{}, monitor.now())
                                  : to_json(account->second, monitor.now());
  }
  return list;
}

Json executors(const Status& status, const live::Monitor& monitor) {
  Json list = Json::array();
  const auto threads = monitor.threads();
  const std::vector<std::string> labels = model::executor_labels(monitor.model());
  for (std::size_t e = 0; e < threads.size(); ++e) {
    const std::string& id = monitor.model().executors[e].id;
    const auto& reservations = status.decision.reservations;
    const auto found = std::ranges::find(reservations, id, &ReservationDecision::executor);
    Json reservation;
    if (found != reservations.end()) {
      reservation = {{"budget", found->budget.count()},
                     {"period", found->period.count()},
                     {"core", or_null(found->core)}};
    }
    list.push_back({{"id", id},
                    {"name", labels[e]},
                    {"process", threads[e].process},
                    {"threads", threads[e].threads},
                    {"reservation", std::move(reservation)},
                    {"busy", threads[e].busy}});
  }
  return list;
}

}  // namespace

Json to_json(const Status& status, const Promises& promises, const live::Monitor& monitor) {
  Json changes = Json::array();
  for (const auto& [time, line] : status.changes) {
    changes.push_back({{"time", time.time_since_epoch().count()}, {"change", line}});
  }
  return {{"format", "takt/status"},
          {"version", 1},
          {"process", getpid()},
          {"dry_run", status.dry_run},
          {"seconds", status.running_seconds},
          {"window", monitor.options().window.count()},
          {"time", monitor.now().time_since_epoch().count()},
          {"followed_until", monitor.followed_until().time_since_epoch().count()},
          {"cpu_seconds", status.cpu_seconds},
          {"decisions", status.decisions},
          {"unlogged", status.unlogged},
          {"planning_seconds", status.planning_seconds},
          {"planning_seconds_total", status.planning_seconds_total},
          {"modelling_seconds_total", status.modelling_seconds_total},
          {"events", monitor.pass().events},
          {"backend", capture::to_string(monitor.options().tracer)},
          {"lost_events", monitor.losses().discarded_events},
          {"chains", status.up ? chains(status, promises, monitor) : Json::array()},
          {"executors", status.up ? executors(status, monitor) : Json::array()},
          {"alerts", live::to_json(monitor.alerts())},
          {"changes", std::move(changes)}};
}

}  // namespace takt::manager
