#include "executors/all_busy.hpp"

#include <algorithm>
#include <functional>

#include "takt/base/int128.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

/// Each step is a bound by itself, and the later ones change little.
constexpr int most_steps = 32;

Int128 within(Duration work, std::int64_t width, Int128 time) {
  return std::min(Int128{work.count()}, width * time);
}

/// The greatest X with everything carried. Let A be some of the work, on less than all threads:
/// then X <= (work that is not in A) / (threads - width of A). The least of these is the greatest
/// X, and it is found where A holds the work that would take longest on its own threads.
Int128 with_all_carried(std::vector<SharedWork>& work, std::int64_t threads) {
  std::ranges::sort(work, [](const SharedWork& a, const SharedWork& b) {
    return Int128{a.carried.count()} * b.width > Int128{b.carried.count()} * a.width;
  });
  Int128 rest = 0;
  for (const SharedWork& each : work) rest += each.carried.count();
  Int128 least = rest / threads;
  for (const SharedWork& each : work) {
    threads -= each.width;
    if (threads <= 0) break;
    rest -= each.carried.count();
    least = std::min(least, rest / threads);
  }
  return least;
}

}  // namespace

Duration longest_all_busy(std::vector<SharedWork>& work, std::int64_t threads,
                          std::size_t carriers) {
  Int128 time = with_all_carried(work, threads);
  std::vector<Int128> gains;
  for (int step = 0; step < most_steps && time > 0; ++step) {
    gains.clear();
    Int128 sum = 0;
    for (const SharedWork& each : work) {
      const Int128 fresh = within(each.fresh, each.width, time);
      const Int128 gain = within(each.carried, each.width, time) - fresh;
      sum += fresh;
      if (gain > 0) gains.push_back(gain);
    }
    if (gains.size() <= carriers && step == 0) break;
    const auto last = gains.begin() + static_cast<std::ptrdiff_t>(std::min(carriers, gains.size()));
    std::ranges::partial_sort(gains, last, std::greater{});
    for (auto gain = gains.begin(); gain != last; ++gain) sum += *gain;
    const Int128 next = std::min(time, sum / threads);
    if (next == time) break;
    time = next;
  }
  return time >= curves::unbounded_time.count() ? curves::unbounded_time
                                                : Duration{static_cast<std::int64_t>(time)};
}

}  // namespace takt::analysis
