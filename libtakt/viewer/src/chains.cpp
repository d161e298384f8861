#include "chains.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace takt::viewer {
namespace {

/// In place of the number of an instance's last run, if it is not complete.
constexpr std::int64_t no_run = -1;

/// An instance on its way into the table; `path` and `length` say where its runs stand.
struct Row {
  Times times;
  std::int64_t ending = -1;
  std::uint64_t path = 0;
  std::uint32_t length = 0;
  std::int64_t run = no_run;
};

/// Follows the instances of one chain that did not come to its end.
class Walker {
 public:
  Walker(const model::Model& model, const model::Chain& chain, const Recording& recording,
         const Timeline& timeline)
      : model_(model), chain_(chain), recording_(recording), timeline_(timeline) {}

  /// The longest way along the chain that messages took from a run of its first callback.
  [[nodiscard]] std::vector<std::size_t> longest(std::size_t run) const {
    std::vector<std::size_t> path{run};
    std::vector<std::size_t> best = path;
    extend(path, best);
    return best;
  }

  [[nodiscard]] std::string reason(const std::vector<std::size_t>& path) const {
    const std::size_t last = path.back();
    const auto messages = timeline_.messages_from(last);
    const bool joined = std::ranges::any_of(model_.joins, [&](const model::Join& join) {
      return join.callback == chain_.callbacks[path.size() - 1];
    });
    if (path.size() == chain_.callbacks.size()) {
      return "it did not complete a set of inputs";
    }
    if (messages.empty()) {
      return joined ? "its set of inputs was not complete, so it published nothing"
                    : "it published nothing";
    }
    const bool lost = std::ranges::any_of(
        messages, [&](std::uint32_t message) { return timeline_.messages()[message].target < 0; });
    return lost ? "its message was lost or replaced by a newer one"
                : "nothing that it published led on";
  }

 private:
  void extend(std::vector<std::size_t>& path, std::vector<std::size_t>& best) const {
    if (path.size() > best.size()) {
      best = path;
    }
    if (path.size() == chain_.callbacks.size()) {
      return;
    }
    for (const std::uint32_t number : timeline_.messages_from(path.back())) {
      const Message& message = timeline_.messages()[number];
      if (message.target < 0) {
        continue;
      }
      const auto target = static_cast<std::size_t>(message.target);
      const auto callback = recording_.runs()[target].callback;
      if (recording_.matches()[callback.value()] != chain_.callbacks[path.size()]) {
        continue;
      }
      path.push_back(target);
      extend(path, best);
      path.pop_back();
    }
  }

  const model::Model& model_;
  const model::Chain& chain_;
  const Recording& recording_;
  const Timeline& timeline_;
};

std::int64_t ending_of(ChainView& view, std::int64_t step, const std::string& reason) {
  const auto known = std::ranges::find_if(view.endings, [&](const ChainView::Ending& ending) {
    return ending.step == step && ending.reason == reason;
  });
  const auto position = known - view.endings.begin();
  if (known == view.endings.end()) {
    view.endings.push_back({step, reason, 0});
  }
  ++view.endings[static_cast<std::size_t>(position)].count;
  return position;
}

/// Puts the instances of one chain after another into the tables.
class Maker {
 public:
  Maker(const model::Model& model, const Recording& recording, const Timeline& timeline,
        const flow::Measurer& measurer, const Storage& storage, Work& work)
      : model_(model),
        recording_(recording),
        timeline_(timeline),
        measurer_(measurer),
        work_(work),
        chains_(storage),
        rows_(storage),
        paths_(storage),
        begun_(storage),
        complete_(storage, model.chains.size(), recording.chains().size(),
                  [&](std::size_t i) { return recording.chains()[i].chain; }),
        begins_(storage) {
    begun_.resize(recording.runs().size());
    std::vector<bool> is_first(model.callbacks.size());
    for (std::size_t chain = 0; chain < model.chains.size(); ++chain) {
      if (recording.keeps(chain)) {
        is_first[model.chains[chain].callbacks.front().value()] = true;
      }
    }
    const auto& by_start = timeline.by_start();
    begins_ = Groups(storage, model.callbacks.size(), by_start.size(), [&](std::size_t i) {
      const auto match = recording.matches()[recording.runs()[by_start[i]].callback.value()];
      return match && is_first[match->value()] ? match->value() : Groups::none;
    });
  }

  void add(std::size_t number, Instant begin, Instant end, Instant steady_since);
  [[nodiscard]] Chains take() { return std::move(chains_); }

 private:
  void add_complete(std::size_t number, ChainView& view);
  void add_incomplete(std::size_t number, ChainView& view, Instant end, Instant steady_since);
  void write(std::size_t number, ChainView& view, const Row& row, Instant begin);

  [[nodiscard]] std::span<const std::uint32_t> path(const Row& row) const {
    return paths_.part(row.path, row.length);
  }

  const model::Model& model_;
  const Recording& recording_;
  const Timeline& timeline_;
  const flow::Measurer& measurer_;
  Work& work_;
  Chains chains_;
  Array<Row> rows_;             // of the present chain
  Array<std::uint32_t> paths_;  // of these rows
  Array<std::uint32_t> begun_;  // by run: the last chain it began an instance of, plus 1
  Groups complete_;             // by chain: positions in Recording::chains()
  Groups begins_;               // by callback that begins a chain: positions in by_start()
  Duration longest_{};
};

void Maker::add_complete(std::size_t number, ChainView& view) {
  const Duration correction = measurer_.correction(model_.chains[number].callbacks.front());
  for (const std::uint32_t position : complete_[number]) {
    const Complete& instance = recording_.chains()[position];
    const auto ids = recording_.path(instance);
    const Row row{{instance.since + correction, instance.activation + correction, instance.end},
                  -1,
                  paths_.size(),
                  instance.length,
                  ids.back()};
    if (const auto first = recording_.find(execution::InstanceId(ids.front()))) {
      begun_[*first] = static_cast<std::uint32_t>(number) + 1;
    }
    for (const std::uint32_t id : ids) {
      if (const auto run = recording_.find(execution::InstanceId(id))) {
        paths_.push_back(static_cast<std::uint32_t>(*run));
      }
    }
    // An instance whose runs were left out has no parts to show.
    if (paths_.size() != row.path + row.length) {
      paths_.resize(row.path);
      ++view.left_out;
      continue;
    }
    longest_ = std::max(longest_, row.times.end - row.times.since);
    rows_.push_back(row);
  }
}

void Maker::add_incomplete(std::size_t number, ChainView& view, Instant end, Instant steady_since) {
  const model::Chain& chain = model_.chains[number];
  const Walker walker(model_, chain, recording_, timeline_);
  for (const std::uint32_t position : begins_[chain.callbacks.front().value()]) {
    const std::uint32_t run = timeline_.by_start()[position];
    const Run& instance = recording_.runs()[run];
    if (instance.start < steady_since || begun_[run] == number + 1) {
      continue;
    }
    if (instance.start + longest_ > recording_.whole_until(number)) {
      continue;  // what it led to may be among what was left out
    }
    const std::vector<std::size_t> longest = walker.longest(run);
    const bool cut_off = instance.start + longest_ > end;
    const std::int64_t ending = ending_of(view, static_cast<std::int64_t>(longest.size()) - 1,
                                          cut_off ? "the recording ended" : walker.reason(longest));
    ++view.incomplete;
    rows_.push_back({{instance.start, instance.start, recording_.runs()[longest.back()].end},
                     ending,
                     paths_.size(),
                     static_cast<std::uint32_t>(longest.size()),
                     no_run});
    for (const std::size_t step : longest) {
      paths_.push_back(static_cast<std::uint32_t>(step));
    }
  }
}

void Maker::write(std::size_t number, ChainView& view, const Row& row, Instant begin) {
  const auto callback_of = [&](std::size_t run) {
    return static_cast<std::int64_t>(recording_.runs()[run].callback.value());
  };
  const std::vector<Part> parts = split(recording_, timeline_, row.times, path(row));
  Duration latency{};
  for (const Part& part : parts) {
    latency += part.duration;
    const auto run = static_cast<std::size_t>(part.run);
    const bool has_run = part.run != RunRow::none;
    const bool waited = part.stage == flow::Stage::waiting_in_executor && has_run;
    const bool is_on_its_way = part.stage == flow::Stage::sending ||
                               part.stage == flow::Stage::in_transport ||
                               part.stage == flow::Stage::in_shared_memory;
    chains_.parts.add({part.step, static_cast<std::int64_t>(part.stage), part.duration.count(),
                       has_run ? timeline_.span_of(run) : -1,
                       is_on_its_way ? timeline_.message_to(path(row)[part.step]) : -1,
                       waited ? callback_of(run) : -1, actor_number(part.actor)});
  }
  if (row.ending == -1 && (view.worst == -1 || latency > view.worst_latency)) {
    view.worst = static_cast<std::int64_t>(chains_.instances.rows());
    view.worst_latency = latency;
    view.worst_parts = parts;
    view.callbacks.clear();
    std::ranges::transform(path(row), std::back_inserter(view.callbacks), callback_of);
  }
  chains_.instances.add({static_cast<std::int64_t>(number), (row.times.since - begin).count(),
                         row.ending, static_cast<std::int64_t>(parts.size()), row.run});
}

void Maker::add(std::size_t number, Instant begin, Instant end, Instant steady_since) {
  ChainView& view = chains_.views.emplace_back();
  if (!recording_.keeps(number)) {
    return;
  }
  rows_.clear();
  paths_.clear();
  longest_ = {};
  add_complete(number, view);
  add_incomplete(number, view, end, steady_since);
  std::ranges::sort(rows_, {}, [](const Row& row) { return std::pair(row.times.since, row.path); });
  work_.expect(rows_.size());
  for (const Row& row : rows_) {
    work_.step();
    write(number, view, row, begin);
  }
}

}  // namespace

Chains::Chains(const Storage& storage)
    : instances(storage, "instances",
                {{"chain", Coding::delta},
                 {"start", Coding::delta},
                 {"ending"},
                 {"parts"},
                 {"run", Coding::delta}}),
      parts(storage, "parts",
            {{"step"},
             {"kind"},
             {"duration"},
             {"span", Coding::delta},
             {"message", Coding::delta},
             {"callback"},
             {"actor"}}) {}

Chains make_chains(const model::Model& model, const Recording& recording, const Timeline& timeline,
                   const flow::Measurer& measurer, Instant begin, Instant end, Instant steady_since,
                   const Storage& storage, Work& work) {
  Maker maker(model, recording, timeline, measurer, storage, work);
  for (std::size_t number = 0; number < model.chains.size(); ++number) {
    maker.add(number, begin, end, steady_since);
  }
  return maker.take();
}

}  // namespace takt::viewer
