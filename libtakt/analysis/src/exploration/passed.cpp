#include "exploration/passed.hpp"

#include <algorithm>
#include <utility>

namespace takt::analysis {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 29;

}  // namespace

/// FNV-1a over whole numbers.
std::size_t Passed::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::int64_t value : key) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211U;
    hash ^= hash >> 32U;
  }
  return hash;
}

void Passed::add(Normal state, std::int64_t hyperperiod) {
  const auto [entry, is_new] = zones_.try_emplace(std::move(state.key));
  const Key& key = entry->first;
  Zones& zones = entry->second;
  if (is_new) memory_ += key.size() * sizeof(Key::value_type);
  effort_.spend(key.size() / 8 + 1);
  if (merging_ && !zones.empty()) {
    Kept& one = zones.front();
    effort_.spend(state.zone.size());
    if (one.zone.includes(state.zone)) return;
    one.zone.merge(state.zone);
    if (!one.waits) wait(zones, 0, key, hyperperiod);
    return;
  }
  for (Kept& kept : zones) {
    if (kept.covered) continue;
    effort_.spend(state.zone.size());
    if (kept.zone.includes(state.zone)) return;
    if (state.zone.includes(kept.zone)) kept.covered = true;
  }
  keep(zones, key, std::move(state.zone), hyperperiod);
}

void Passed::keep(Zones& zones, const Key& key, Zone zone, std::int64_t hyperperiod) {
  // Entries of the list are known by their index, so one may be used again only if it is covered
  // and does not wait.
  const auto free =
      std::ranges::find_if(zones, [](const Kept& kept) { return kept.covered && !kept.waits; });
  const auto index = static_cast<std::size_t>(free - zones.begin());
  const auto bytes = [](const Zone& kept) {
    return kept.size() * kept.size() * sizeof(Time) + sizeof(Kept) + sizeof(Waiting);
  };
  if (free != zones.end()) memory_ -= bytes(free->zone);
  memory_ += bytes(zone);
  if (memory_ > most_bytes) throw TooMany{};
  if (free == zones.end()) {
    zones.push_back({.zone = std::move(zone)});
    ++kept_;
  } else {
    *free = {.zone = std::move(zone)};
  }
  wait(zones, index, key, hyperperiod);
}

void Passed::wait(Zones& zones, std::size_t index, const Key& key, std::int64_t hyperperiod) {
  Kept& kept = zones[index];
  kept.waits = true;
  const Time latest = kept.zone.most(State::begin, State::now);
  waiting_.push({.hyperperiod = hyperperiod,
                 .earliest = latest >= no_limit ? 0 : -latest,
                 .order = order_++,
                 .key = &key,
                 .zones = &zones,
                 .index = index});
}

bool Passed::take(Next& next) {
  while (!waiting_.empty()) {
    const Waiting first = waiting_.top();
    waiting_.pop();
    Kept& kept = (*first.zones)[first.index];
    kept.waits = false;
    if (kept.covered) continue;
    next = {.key = first.key, .zone = kept.zone, .hyperperiod = first.hyperperiod};
    return true;
  }
  return false;
}

}  // namespace takt::analysis
