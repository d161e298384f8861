#include "takt/manager/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/base/try.hpp"
#include "takt/manager/json.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/model/parse_document.hpp"

namespace takt::manager {

namespace {

/// A line as it is read, which parse_document() has checked: however hostile a log is, it does not
/// nest so deeply that functions which call themselves for each level overflow the stack.
using Parsed = nlohmann::json;

/// An entry of the list of doubts, missing goals or broken promises: it is about an executor, a
/// goal or a chain.
Json reason_to_json(const std::string& about, const std::string& reason) {
  return {{"about", about}, {"reason", reason}};
}

/// A list of doubts, missing goals or broken promises.
template <typename Reason>
std::vector<Reason> reasons_from_json(const Parsed& list) {
  std::vector<Reason> reasons;
  for (const Parsed& reason : list) {
    reasons.push_back(
        {reason.at("about").get<std::string>(), reason.at("reason").get<std::string>()});
  }
  return reasons;
}

std::string line(const Json& json) { return json_text(json) + "\n"; }

Duration duration(const Parsed& json) { return Duration{json.get<std::int64_t>()}; }

Options options_from_json(const Parsed& json) {
  Options options;
  options.margin = json.at("margin").get<int>();
  options.calm = json.at("calm").get<int>();
  options.spare = json.at("spare").get<int>();
  options.left = json.value("left", 100);  // logs of before budgets took more than they need
  options.period.reset();
  if (!json.at("period").is_null()) options.period = duration(json.at("period"));
  return options;
}

bool in_range(const Options& options) {
  const auto percent = [](int value) { return value >= 0 && value <= 1000; };
  return percent(options.margin) && percent(options.spare) && percent(options.left) &&
         options.calm >= 1 &&
         (!options.period || (*options.period >= std::chrono::microseconds{100} &&
                              *options.period <= std::chrono::seconds{10}));
}

Json estimators_to_json(const std::vector<Estimator>& estimators) {
  Json list = Json::array();
  for (const Estimator& estimator : estimators) {
    list.push_back({{"chain", estimator.chain},
                    {"node", estimator.node},
                    {"answer", to_string(estimator.answer)},
                    {"reason", estimator.reason}});
  }
  return list;
}

Estimator estimator_from_json(const Parsed& json) {
  const auto answer = json.at("answer").get<std::string>();
  return {.chain = json.at("chain").get<std::string>(),
          .node = json.at("node").get<std::string>(),
          .answer = answer == "accepted"  ? CheapMode::accepted
                    : answer == "refused" ? CheapMode::refused
                                          : CheapMode::asked,
          .reason = json.at("reason").get<std::string>()};
}

/// Throws nlohmann's exceptions for what is not there.
Result<Situation> situation_from_json(const Parsed& json, std::string_view source) {
  auto parsed = TAKT_TRY(model::parse(json.at("model").dump(), source));
  Situation situation{.time = Instant{duration(json.at("time"))},
                      .model = std::move(parsed.model),
                      .missing_goals = reasons_from_json<MissingGoal>(json.at("missing_goals")),
                      .doubts = reasons_from_json<Doubt>(json.at("doubts")),
                      .unproved = json.value("unproved", std::vector<std::string>{}),
                      .cores = {}};
  situation.cores.numbers = json.at("cores").get<std::vector<int>>();
  situation.cores.capacity = json.at("capacity").get<double>();
  situation.cores.pinnable = json.value("pinnable", std::vector<int>{});
  // Older logs do not have the last four.
  situation.broken = reasons_from_json<BrokenPromise>(json.value("broken", Parsed::array()));
  situation.crowded = json.value("crowded", false);
  for (const Parsed& estimator : json.value("estimators", Parsed::array())) {
    situation.estimators.push_back(estimator_from_json(estimator));
  }
  for (const Parsed& density : json.value("taken", Parsed::array())) {
    situation.cores.taken.push_back({.density = density.get<double>()});
  }
  const auto& cores = situation.cores;
  if (cores.numbers.empty() || cores.numbers.size() > 4096 || cores.pinned().size() > 4096 ||
      !(cores.capacity > 0 && cores.capacity <= 1)) {
    return error("{}: cores: at least one is needed, and a capacity above 0 and at most 1", source);
  }
  if (cores.taken.size() > 4096 || !std::ranges::all_of(cores.taken, [](const budget::Load& load) {
        return load.density >= 0 && load.density <= 1;
      })) {
    return error("{}: taken: shares of a core are from 0 to 1", source);
  }
  return situation;
}

Json to_json(const std::optional<Breach>& breach) {
  if (!breach) return {};
  return {{"activation", breach->activation.time_since_epoch().count()},
          {"latency", breach->latency.count()},
          {"bound", breach->bound.count()},
          {"stolen", breach->stolen.count()},
          {"late_supply", breach->late.time.count()}};
}

/// Compares decisions in their logged form, which has no time: that is the situation's.
bool same(const Decision& now, const Parsed& logged) { return Parsed(to_json(now)) == logged; }

}  // namespace

Json to_json(const ChainDecision& chain) {
  Json entry{{"id", chain.id},
             {"state", to_string(chain.state)},
             {"reason", chain.reason},
             {"goal", or_null(chain.goal)},
             {"bound", or_null(chain.bound)}};
  if (chain.kind != model::GoalKind::latency) entry["kind"] = model::to_string(chain.kind);
  if (const auto& estimator = chain.estimator) {
    entry["estimator"] = {{"node", estimator->node},
                          {"cheap_mode", to_string(estimator->mode)},
                          {"reason", estimator->reason}};
  }
  return entry;
}

Json to_json(const PromiseAccount& account, Instant now) {
  Json breach = to_json(account.breach);
  if (account.breach) breach["reason"] = account.reason;
  Json since;
  if (account.since) since = account.since->time_since_epoch().count();
  return {{"kept", account.kept},
          {"broken", account.broken},
          {"since", std::move(since)},
          {"guaranteed", account.guaranteed_for(now).count()},
          {"bound", account.bound.count()},
          {"longest", account.longest.count()},
          {"breach", std::move(breach)},
          {"by_host", account.by_host},
          {"last_by_host", to_json(account.last_by_host)}};
}

Json to_json(const Decision& decision) {
  Json chains = Json::array();
  for (const ChainDecision& chain : decision.chains) chains.push_back(to_json(chain));
  Json reservations = Json::array();
  for (const ReservationDecision& r : decision.reservations) {
    reservations.push_back({{"executor", r.executor},
                            {"budget", r.budget.count()},
                            {"deadline", r.deadline.count()},
                            {"period", r.period.count()},
                            {"core", or_null(r.core)}});
  }
  return {{"chains", std::move(chains)},
          {"reservations", std::move(reservations)},
          {"changes", decision.changes}};
}

std::string header_line(const Options& options) {
  return line({{"format", "takt/decisions"},
               {"version", 1},
               {"margin", options.margin},
               {"calm", options.calm},
               {"spare", options.spare},
               {"left", options.left},
               {"period", or_null(options.period)}});
}

std::string entry_line(const Situation& situation, const Decision& decision,
                       const std::map<std::string, PromiseAccount>& promises) {
  Json accounts = Json::object();
  for (const auto& [chain, account] : promises) accounts[chain] = to_json(account, situation.time);
  Json missing = Json::array();
  for (const MissingGoal& goal : situation.missing_goals) {
    missing.push_back(reason_to_json(goal.name, goal.reason));
  }
  Json doubts = Json::array();
  for (const Doubt& doubt : situation.doubts) {
    doubts.push_back(reason_to_json(doubt.executor, doubt.reason));
  }
  Json broken = Json::array();
  for (const BrokenPromise& promise : situation.broken) {
    broken.push_back(reason_to_json(promise.chain, promise.reason));
  }
  Json taken = Json::array();
  for (const budget::Load& load : situation.cores.taken) taken.push_back(load.density);
  return line({{"time", situation.time.time_since_epoch().count()},
               {"model", Json::parse(model::to_json(situation.model))},
               {"missing_goals", std::move(missing)},
               {"doubts", std::move(doubts)},
               {"unproved", situation.unproved},
               {"broken", std::move(broken)},
               {"cores", situation.cores.numbers},
               {"capacity", situation.cores.capacity},
               {"pinnable", situation.cores.pinned()},
               {"taken", std::move(taken)},
               {"crowded", situation.crowded},
               {"estimators", estimators_to_json(situation.estimators)},
               {"promises", std::move(accounts)},
               {"decision", to_json(decision)}});
}

Result<Replay> replay(std::string_view text, std::string_view source) {
  Replay result;
  std::optional<Manager> manager;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;  // the writer was killed within the line
    const std::string place = fmt::format("{}: line {}", source, number);
    const auto parsed =
        TAKT_TRY(model::parse_document(text.substr(0, end), place, "decisions log"));
    const Parsed& json = parsed;
    try {
      if (!manager) {
        if (json.value("format", "") != "takt/decisions" || json.value("version", 0) != 1) {
          return error("{}: not a takt/decisions log of version 1", source);
        }
        const Options options = options_from_json(json);
        if (!in_range(options)) return error("{}: an option is out of its range", place);
        manager.emplace(options);
      } else {
        const auto situation = TAKT_TRY(situation_from_json(json, place));
        const Decision decision = manager->decide(situation);
        result.decisions.push_back(decision);
        if (!same(decision, json.at("decision"))) {
          result.differences.push_back(
              fmt::format("{}: decided otherwise: {}", place, to_json(decision).dump()));
        }
      }
    } catch (const Json::exception& fault) {
      return error("{}: not a line of a takt/decisions log: {}", place, fault.what());
    }
    text.remove_prefix(end + 1);
  }
  if (!manager) return error("{}: not a takt/decisions log: it is empty", source);
  return result;
}

}  // namespace takt::manager
