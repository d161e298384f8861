#include "takt/live/alerts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace takt::live {

namespace {

/// Only a chain that was completed so often is expected to be completed again.
constexpr std::uint64_t enough = 10;
/// A chain is missing after so many times its mean distance, but not before `shortest_gap`.
constexpr int missing_after = 5;
constexpr Duration shortest_gap = std::chrono::seconds{1};

bool is_missing(const ChainWindow& window, Instant now) {
  if (window.total() < enough) return false;
  const Duration usual =
      (window.last() - window.first()) / static_cast<std::int64_t>(window.total() - 1);
  return now - window.last() > std::max(shortest_gap, missing_after * usual);
}

std::string ended(const Alert& alert, const std::vector<model::Chain>& chains) {
  if (alert.kind != Alert::Kind::loss &&
      std::ranges::find(chains, alert.chain, &model::Chain::id) == chains.end()) {
    return fmt::format("alert ended: there is no chain {} any more", alert.chain);
  }
  const auto calm = std::chrono::duration_cast<std::chrono::seconds>(Alerts::calm).count();
  switch (alert.kind) {
    case Alert::Kind::goal:
      return fmt::format("alert ended: chain {} met its goal for {} s", alert.chain, calm);
    case Alert::Kind::gap:
      return fmt::format("alert ended: chain {} came without a gap for {} s", alert.chain, calm);
    case Alert::Kind::loss:
      return fmt::format("alert ended: no event was lost for {} s", calm);
  }
  return {};
}

}  // namespace

std::string_view to_string(Alert::Kind kind) {
  switch (kind) {
    case Alert::Kind::goal:
      return "goal";
    case Alert::Kind::gap:
      return "gap";
    case Alert::Kind::loss:
      return "loss";
  }
  return {};
}

void Alerts::raise(Alert::Kind kind, const std::string& chain, Instant now, std::string line) {
  const auto found = std::ranges::find_if(
      present_, [&](const Alert& alert) { return alert.kind == kind && alert.chain == chain; });
  if (found != present_.end()) {
    found->last = now;
    return;
  }
  present_.push_back({kind, chain, now, now});
  lines_.push_back("alert: " + std::move(line));
}

std::vector<std::string> Alerts::update(Instant now, const std::vector<model::Chain>& chains,
                                        const std::vector<ChainWindow>& windows, std::uint64_t lost,
                                        const std::vector<bool>& has_ended) {
  lines_.clear();
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const std::string& id = chains[c].id;
    const ChainWindow& window = windows[c];
    auto counted = std::ranges::find(counted_, id, &Counted::chain);
    if (counted == counted_.end()) counted = counted_.insert(counted, {id, 0});
    // A window begins anew when the model has another structure.
    if (window.missed() > counted->missed) {
      raise(Alert::Kind::goal, id, now, fmt::format("chain {} missed its goal", id));
    }
    counted->missed = window.missed();
    if (!has_ended[c] && is_missing(window, now)) {
      const auto seconds = std::chrono::duration<double>(now - window.last()).count();
      raise(Alert::Kind::gap, id, now,
            fmt::format("chain {} was not completed for {:.1f} s", id, seconds));
    }
  }
  if (lost > lost_) {
    raise(Alert::Kind::loss, "", now, fmt::format("{} events were lost", lost - lost_));
  }
  lost_ = lost;
  std::erase_if(counted_, [&](const Counted& counted) {
    return std::ranges::find(chains, counted.chain, &model::Chain::id) == chains.end();
  });
  std::erase_if(present_, [&](const Alert& alert) {
    const auto chain = std::ranges::find(chains, alert.chain, &model::Chain::id);
    if (alert.kind == Alert::Kind::gap && chain != chains.end() &&
        has_ended[static_cast<std::size_t>(chain - chains.begin())]) {
      lines_.push_back(
          fmt::format("alert ended: the programs of chain {} have ended", alert.chain));
      return true;
    }
    const bool is_gone = alert.kind != Alert::Kind::loss && chain == chains.end();
    const bool is_over = is_gone || now - alert.last > calm;
    if (is_over) lines_.push_back(ended(alert, chains));
    return is_over;
  });
  return lines_;
}

}  // namespace takt::live
