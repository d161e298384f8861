#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stored_tables.hpp"

namespace takt::viewer {
namespace {

constexpr std::int64_t most_bins_of_runs = 4096;
/// In place of a time of a bin without runs.
constexpr std::int64_t no_time = -1;

/// The least and the largest value of each bin.
class Band {
 public:
  explicit Band(std::size_t bins) : least_(bins, no_time), most_(bins, no_time) {}

  void add(std::size_t bin, std::int64_t value) {
    least_[bin] = least_[bin] == no_time ? value : std::min(least_[bin], value);
    most_[bin] = std::max(most_[bin], value);
  }
  [[nodiscard]] const std::vector<std::int64_t>& least() const { return least_; }
  [[nodiscard]] const std::vector<std::int64_t>& most() const { return most_; }

 private:
  std::vector<std::int64_t> least_;
  std::vector<std::int64_t> most_;
};

}  // namespace

std::string StoredDocument::series(std::int64_t callback, std::int64_t bins) const {
  const auto& spans = tables_->spans;
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  // start, duration
  for (std::size_t track = 0; track < tables_->is_processor.size(); ++track) {
    if (tables_->is_processor[track]) continue;
    for (auto row = tables_->track_offsets[track]; row < tables_->track_offsets[track + 1]; ++row) {
      if (spans.subject[row] == callback) runs.emplace_back(spans.start[row], spans.duration[row]);
    }
  }
  std::ranges::sort(runs);
  const auto number =
      static_cast<std::size_t>(std::clamp<std::int64_t>(bins, 1, most_bins_of_runs));
  const std::int64_t from = runs.empty() ? 0 : runs.front().first;
  const std::int64_t last = runs.empty() ? 0 : runs.back().first;
  const std::int64_t width = (last - from) / static_cast<std::int64_t>(number) + 1;
  std::vector<std::int64_t> counts(number);
  Band durations(number);
  Band distances(number);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto bin = static_cast<std::size_t>((runs[i].first - from) / width);
    ++counts[bin];
    durations.add(bin, runs[i].second);
    if (i > 0) distances.add(bin, runs[i].first - runs[i - 1].first);
  }
  return SortedJson{{"from", from},
                    {"width", width},
                    {"counts", counts},
                    {"shortest", durations.least()},
                    {"longest", durations.most()},
                    {"closest", distances.least()},
                    {"farthest", distances.most()}}
      .dump();
}

}  // namespace takt::viewer
