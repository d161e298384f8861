#include "table_driven_executor.hpp"

#include <algorithm>
#include <numeric>

#include "long_run.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;

namespace {

std::int64_t divide_up(Duration time, Duration by) { return (time + by - epsilon) / by; }

}  // namespace

TableDrivenExecutor::TableDrivenExecutor(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor), table_(executor_.table ? &*executor_.table : nullptr) {
  for (const CallbackIndex callback : executor_.callbacks) {
    slots_.push_back(open_slots(callback));
  }
}

std::vector<TableDrivenExecutor::OpenSlot> TableDrivenExecutor::open_slots(
    CallbackIndex callback) const {
  std::vector<OpenSlot> open;
  if (table_ == nullptr || executor_.supply.blackout() > Duration{0}) return open;
  const auto& [cycle, entries] = *table_;
  const Duration each = std::max(epsilon, longest(callback));
  for (std::size_t s = 0; s < entries.size(); ++s) {
    if (entries[s].callback != callback) continue;
    Duration start = entries[s].slot.start;
    for (std::size_t p = 0; p < entries.size(); ++p) {
      // The slot before, in this cycle or the last one.
      const Duration latest_start = entries[p].slot.end - epsilon - (p < s ? Duration{0} : cycle);
      start = std::max(start, saturating_add(latest_start, longest(entries[p].callback)));
    }
    const Duration end = entries[s].slot.end;
    if (start < end) open.push_back({start, end, divide_up(end - start, each)});
  }
  return open;
}

Duration TableDrivenExecutor::latest_start(const Member& member, std::int64_t earlier) const {
  const std::vector<OpenSlot>& slots = slots_[member.task->rank];
  const Duration cycle = table_->cycle;
  const Duration each = longest(member.callback);
  const std::int64_t per_cycle = starts_per_cycle(member);
  Duration latest{0};
  for (std::size_t s = 0; s < slots.size(); ++s) {
    // Waiting begins as slot s ends.
    std::int64_t left = earlier % per_cycle;
    std::size_t next = s + 1;
    while (left >= slots[next % slots.size()].starts) left -= slots[next++ % slots.size()].starts;
    const Duration start =
        slots[next % slots.size()].start + (next < slots.size() ? Duration{0} : cycle);
    latest = std::max(latest, saturating_add(start - slots[s].end, each * left));
  }
  return saturating_add(latest, saturating_multiply(cycle, earlier / per_cycle));
}

std::int64_t TableDrivenExecutor::starts_per_cycle(const Member& member) const {
  std::int64_t starts = 0;
  for (const OpenSlot& slot : slots_[member.task->rank]) starts += slot.starts;
  return starts;
}

std::optional<std::int64_t> TableDrivenExecutor::most_instances(const Member& member) const {
  const std::int64_t starts = starts_per_cycle(member);
  const Duration cycle = table_->cycle;
  if (!outpaces(*member.activations, starts, cycle)) return curves::unbounded_count;
  const auto& terms = member.activations->terms();
  if (terms.size() != 1 || terms[0].multiplicity != 1 || terms[0].source->curve == nullptr) {
    return std::nullopt;
  }
  const curves::ActivationCurve& curve = *terms[0].source->curve;
  const auto rate = curve.long_run();
  if (Wide{rate.events} * cycle.count() != Wide{starts} * rate.span.count()) return std::nullopt;
  const std::int64_t first = std::max(curve.repeats_from(), curve.count(terms[0].shift + epsilon));
  constexpr std::int64_t most_starts = 100'000;
  if (starts > most_starts) return std::nullopt;
  return saturating_add(first, std::lcm(rate.events, starts));
}

std::optional<TableDrivenExecutor::LongestResponse> TableDrivenExecutor::longest_response(
    const Member& member) const {
  if (slots_[member.task->rank].empty() || member.activations->unbounded()) return std::nullopt;
  const auto most = most_instances(member);
  if (!most) return std::nullopt;
  LongestResponse found;
  for (std::int64_t earlier = 0; earlier < *most; ++earlier) {
    const Duration start = latest_start(member, earlier);
    if (start > horizon()) return std::nullopt;
    const Duration finish = saturating_add(start, longest(member.callback));
    const Duration activation = member.activations->distance(earlier + 1);
    if (finish - activation > found.response) found = {finish - activation, earlier, activation};
    if (finish <= member.activations->distance(earlier + 2)) break;
  }
  return found;
}

LocalBound TableDrivenExecutor::bound(CallbackIndex callback) {
  const auto found = longest_response(members_[round_.system[callback].rank]);
  if (!found) return {};
  return {.response = found->response, .by = "table_driven"};
}

Duration TableDrivenExecutor::way(std::span<const CallbackIndex> chain, Duration at) const {
  const Duration cycle = table_->cycle;
  for (const CallbackIndex callback : chain) {
    const Duration place = at % cycle;
    const std::vector<OpenSlot>& slots = slots_[round_.system[callback].rank];
    const auto next = std::ranges::upper_bound(slots, place, {}, &OpenSlot::end);
    const Duration start = next == slots.end() ? slots.front().start + cycle : next->start;
    at += std::max(Duration{0}, start - place) + longest(callback);
  }
  return at;
}

std::optional<Duration> TableDrivenExecutor::longest_way(
    std::span<const CallbackIndex> chain) const {
  const Member& head = members_[round_.system[chain.front()].rank];
  if (head.activations->unbounded() || head.activations->distance(2) < table_->cycle) {
    return std::nullopt;
  }
  for (const CallbackIndex callback : chain) {
    const Task& task = round_.system[callback];
    if (slots_[task.rank].empty()) return std::nullopt;
    if (callback != chain.front() && task.incoming.size() != 1) return std::nullopt;
  }
  // It is longest if some callback just misses a slot, with all before it without a wait.
  const Duration cycle = table_->cycle;
  Duration longest_way{0};
  Duration before{0};
  for (const CallbackIndex callback : chain) {
    for (const OpenSlot& slot : slots_[round_.system[callback].rank]) {
      const Duration at = ((slot.end - before) % cycle + cycle) % cycle;
      longest_way = std::max(longest_way, way(chain, at) - at);
    }
    before += longest(callback);
  }
  return longest_way;
}

LocalBound TableDrivenExecutor::bound(std::span<const CallbackIndex> chain) {
  const LocalBound sum = sum_of_callbacks(chain);
  if (sum.response == curves::unbounded_time) return sum;
  const auto way = longest_way(chain);
  if (!way || *way >= sum.response) return sum;
  return {.response = *way, .by = "table_driven"};
}

}  // namespace takt::analysis
