#include "supply.hpp"

#include <algorithm>

namespace takt::simulation {

using model::ReservationSupply;

void ConstantBandwidthServer::wake(Instant now) {
  // A replenishment that fell into the time when the thread was blocked.
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
      __extension__ using Wide = __int128;
      const Wide share = Wide{(deadline_ - now).count()} * reservation_.budget.count();
      budget_ = Duration(static_cast<std::int64_t>(share / reservation_.deadline.count()));
    }
  }
}

void ConstantBandwidthServer::replenish() {
  deadline_ += reservation_.period;
  budget_ = reservation_.budget;
}

bool ConstantBandwidthServer::overflows(Instant now) const {
  __extension__ using Wide = __int128;
  return Wide{budget_.count()} * reservation_.deadline.count() >
         Wide{(deadline_ - now).count()} * reservation_.budget.count();
}

Supply::Supply(const model::Supply& supply, ReservationModel model, Random random, Instant horizon)
    : horizon_(horizon) {
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

}  // namespace takt::simulation
