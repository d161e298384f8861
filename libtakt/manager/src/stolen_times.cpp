#include "takt/manager/stolen_times.hpp"

namespace takt::manager {

void StolenTimes::read(Instant now, Duration total) {
  if (read_ && total > total_) taken_.push_back({*read_, now, total - total_});
  if (taken_.size() > most) taken_.pop_front();
  read_ = now;
  total_ = total;
}

Duration StolenTimes::within(Instant from, Instant until) const {
  Duration sum{};
  for (const Taken& taken : taken_) {
    if (taken.by > from && taken.after < until) sum += taken.time;
  }
  return sum;
}

}  // namespace takt::manager
