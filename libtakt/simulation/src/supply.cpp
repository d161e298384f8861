#include "supply.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/int128.hpp"

namespace takt::simulation {

using model::ReservationSupply;

void ConstantBandwidthServer::wake(Instant now) {
  // Makes up for replenishments that were due while the thread was blocked.
  while (started_ && throttled() && next_period() <= now) replenish();
  if (started_ && throttled()) return;
  if (!started_ || deadline_ < now) {
    const bool waits_for_period = started_ && now < next_period();
    if (waits_for_period) {
      // A deadline before the period: the rest of this period has no budget.
      budget_ = Duration{0};
      return;
    }
    started_ = true;
    deadline_ = now + reservation_.deadline;
    budget_ = reservation_.budget;
  } else if (overflows(now)) {
    if (reservation_.deadline == reservation_.period) {
      deadline_ = now + reservation_.deadline;
      budget_ = reservation_.budget;
    } else {
      const Int128 share = Int128{(deadline_ - now).count()} * reservation_.budget.count();
      budget_ = Duration(static_cast<std::int64_t>(share / reservation_.deadline.count()));
    }
  }
}

void ConstantBandwidthServer::replenish() {
  deadline_ += reservation_.period;
  budget_ = reservation_.budget;
}

bool ConstantBandwidthServer::overflows(Instant now) const {
  return Int128{budget_.count()} * reservation_.deadline.count() >
         Int128{(deadline_ - now).count()} * reservation_.budget.count();
}

namespace {

/// The end of the slot that is followed by the longest time without one.
Duration after_longest_gap(const model::SlotSupply& table) {
  Duration best = table.slots.back().end;
  Duration longest = table.cycle - best + table.slots.front().start;
  for (std::size_t i = 1; i < table.slots.size(); ++i) {
    const Duration gap = table.slots[i].start - table.slots[i - 1].end;
    if (gap <= longest) continue;
    longest = gap;
    best = table.slots[i - 1].end;
  }
  return best;
}

}  // namespace

Supply::Supply(const model::Supply& supply, ReservationModel model, Random random, Instant horizon)
    : horizon_(horizon) {
  if (const auto* table = std::get_if<model::SlotSupply>(&supply)) {
    Slots slots{*table, Instant{}};
    if (model == ReservationModel::latest) slots.first_cycle -= after_longest_gap(*table);
    if (model == ReservationModel::random) {
      slots.first_cycle -= Random::scale(random.next(), table->cycle - epsilon);
    }
    supply_ = std::move(slots);
    return;
  }
  const auto* reservation = std::get_if<ReservationSupply>(&supply);
  if (reservation == nullptr) return;
  if (model == ReservationModel::constant_bandwidth) {
    supply_ = Server{ConstantBandwidthServer(*reservation)};
    return;
  }
  Windows windows{*reservation, model == ReservationModel::random, random};
  windows.first_period =
      model == ReservationModel::latest
          ? Instant{} - reservation->budget
          : Instant{} - Random::scale(random.next(), reservation->period - epsilon);
  supply_ = windows;
}

Instant Supply::finish(Instant now, Duration work) {
  if (auto* server = std::get_if<Server>(&supply_)) return finish(*server, now, work);
  if (const auto* windows = std::get_if<Windows>(&supply_)) return finish(*windows, now, work);
  if (const auto* slots = std::get_if<Slots>(&supply_)) return finish(*slots, now, work);
  return now + work;
}

Instant Supply::finish(Server& thread, Instant now, Duration work) const {
  ConstantBandwidthServer& server = thread.server;
  if (now > thread.idle_since || now == Instant{}) server.wake(now);
  while (work > Duration{0} && now <= horizon_) {
    if (server.throttled()) {
      now = std::max(now, server.next_period());
      server.replenish();
    }
    const Duration slice = std::min(work, server.budget());
    server.consume(slice);
    now += slice;
    work -= slice;
  }
  thread.idle_since = now;
  return now;
}

Instant Supply::Windows::begin(std::int64_t period) const {
  const Instant start = first_period + period * reservation.period;
  const Duration slack = reservation.deadline - reservation.budget;
  if (random) return start + Random::scale(places.at(static_cast<std::uint64_t>(period)), slack);
  return period == 0 ? start : start + slack;
}

Instant Supply::finish(const Windows& windows, Instant now, Duration work) const {
  if (work == Duration{0}) return now;
  for (std::int64_t period = (now - windows.first_period) / windows.reservation.period;; ++period) {
    const Instant begin = windows.begin(period);
    const Instant end = begin + windows.reservation.budget;
    const Instant from = std::max(now, begin);
    if (from >= end) continue;
    if (work <= end - from || from > horizon_) return from + work;
    work -= end - from;
  }
}

Instant Supply::finish(const Slots& slots, Instant now, Duration work) const {
  if (work == Duration{0}) return now;
  const Duration cycle = slots.table.cycle;
  for (Instant begin = slots.first_cycle + (now - slots.first_cycle) / cycle * cycle;;
       begin += cycle) {
    for (const model::Slot& slot : slots.table.slots) {
      const Instant from = std::max(now, begin + slot.start);
      const Instant end = begin + slot.end;
      if (from >= end) continue;
      if (work <= end - from || from > horizon_) return from + work;
      work -= end - from;
    }
  }
}

}  // namespace takt::simulation
