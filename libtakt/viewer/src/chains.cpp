#include "chains.hpp"

#include <algorithm>
#include <iterator>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>

namespace takt::viewer {
namespace {

/// An instance on its way into the table; `path` and `length` say where its runs stand.
struct Row {
  Instant activation;
  std::int64_t ending = -1;
  std::uint64_t path = 0;
  std::uint32_t length = 0;
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
    const bool lost = std::ranges::any_of(messages, [&](std::int64_t message) {
      return timeline_.messages()[static_cast<std::size_t>(message)].target < 0;
    });
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
    for (const std::int64_t number : timeline_.messages_from(path.back())) {
      const Message& message = timeline_.messages()[static_cast<std::size_t>(number)];
      if (message.target < 0) {
        continue;
      }
      const auto target = static_cast<std::size_t>(message.target);
      const auto callback = recording_.runs()[target].instance.callback;
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
        const flow::Measurer& measurer, const Storage& storage)
      : model_(model),
        recording_(recording),
        timeline_(timeline),
        measurer_(measurer),
        storage_(storage),
        chains_(storage),
        rows_(storage.memory()),
        paths_(storage.memory()),
        begun_(recording.runs().size(), 0, storage.memory()),
        first_runs_(storage.memory()) {
    std::vector<bool> is_first(model.callbacks.size());
    for (const model::Chain& chain : model.chains) {
      is_first[chain.callbacks.front().value()] = true;
    }
    storage.prepare(first_runs_, recording.runs().size());
    for (const std::uint32_t run : timeline.by_start()) {
      const auto match = recording.matches()[recording.runs()[run].instance.callback.value()];
      if (match && is_first[match->value()]) {
        first_runs_.push_back(run);
      }
    }
  }

  void add(std::size_t number, Instant begin, Instant end, Instant steady_since);
  [[nodiscard]] Chains take() { return std::move(chains_); }

 private:
  void add_complete(std::size_t number);
  void add_incomplete(std::size_t number, ChainView& view, Instant end, Instant steady_since);
  void write(std::size_t number, ChainView& view, const Row& row, Instant begin);

  [[nodiscard]] std::span<const std::size_t> path(const Row& row) const {
    return std::span(paths_).subspan(row.path, row.length);
  }

  const model::Model& model_;
  const Recording& recording_;
  const Timeline& timeline_;
  const flow::Measurer& measurer_;
  const Storage& storage_;
  Chains chains_;
  std::pmr::vector<Row> rows_;             // of the present chain
  std::pmr::vector<std::size_t> paths_;    // of these rows
  std::pmr::vector<std::uint32_t> begun_;  // by run: the last chain it began an instance of, plus 1
  std::pmr::vector<std::uint32_t> first_runs_;  // of the first callback of any chain
  Duration longest_{};
};

void Maker::add_complete(std::size_t number) {
  const Duration correction = measurer_.correction(model_.chains[number].callbacks.front());
  for (const Complete& instance : recording_.chains()) {
    if (instance.chain != number) {
      continue;
    }
    const Row row{instance.activation + correction, -1, paths_.size(), instance.length};
    for (const execution::InstanceId id : recording_.path(instance)) {
      if (const auto run = recording_.find(id)) {
        paths_.push_back(*run);
      }
    }
    // An instance whose runs were left out has no parts to show.
    if (paths_.size() != row.path + row.length) {
      paths_.resize(row.path);
      continue;
    }
    begun_[path(row).front()] = static_cast<std::uint32_t>(number) + 1;
    const Instant end = recording_.runs()[path(row).back()].instance.end;
    longest_ = std::max(longest_, end - row.activation);
    rows_.push_back(row);
  }
}

void Maker::add_incomplete(std::size_t number, ChainView& view, Instant end, Instant steady_since) {
  const model::Chain& chain = model_.chains[number];
  const Walker walker(model_, chain, recording_, timeline_);
  for (const std::uint32_t run : first_runs_) {
    const execution::CallbackInstance& instance = recording_.runs()[run].instance;
    if (recording_.matches()[instance.callback.value()] != chain.callbacks.front() ||
        instance.start < steady_since || begun_[run] == number + 1) {
      continue;
    }
    const std::vector<std::size_t> longest = walker.longest(run);
    const bool cut_off = instance.start + longest_ > end;
    const std::int64_t ending = ending_of(view, static_cast<std::int64_t>(longest.size()) - 1,
                                          cut_off ? "the recording ended" : walker.reason(longest));
    ++view.incomplete;
    rows_.push_back(
        {instance.start, ending, paths_.size(), static_cast<std::uint32_t>(longest.size())});
    paths_.insert(paths_.end(), longest.begin(), longest.end());
  }
}

void Maker::write(std::size_t number, ChainView& view, const Row& row, Instant begin) {
  const auto callback_of = [&](std::size_t run) {
    return static_cast<std::int64_t>(recording_.runs()[run].instance.callback.value());
  };
  const std::vector<Part> parts = split(recording_, timeline_, row.activation, path(row));
  Duration latency{};
  for (const Part& part : parts) {
    latency += part.duration;
    const bool waited = part.kind == PartKind::executor && part.run;
    chains_.parts.add({static_cast<std::int64_t>(part.step), static_cast<std::int64_t>(part.kind),
                       part.duration.count(), part.run ? timeline_.span_of(*part.run) : -1,
                       part.message, waited ? callback_of(*part.run) : -1, part.actor});
  }
  if (row.ending == -1 && (view.worst == -1 || latency > view.worst_latency)) {
    view.worst = static_cast<std::int64_t>(chains_.instances.rows());
    view.worst_latency = latency;
    view.worst_parts = parts;
    view.callbacks.clear();
    std::ranges::transform(path(row), std::back_inserter(view.callbacks), callback_of);
  }
  chains_.instances.add({static_cast<std::int64_t>(number), (row.activation - begin).count(),
                         row.ending, static_cast<std::int64_t>(parts.size())});
}

void Maker::add(std::size_t number, Instant begin, Instant end, Instant steady_since) {
  ChainView& view = chains_.views.emplace_back();
  rows_.clear();
  paths_.clear();
  longest_ = {};
  storage_.prepare(rows_, storage_.runs());
  storage_.prepare(paths_, 8 * storage_.runs());
  add_complete(number);
  add_incomplete(number, view, end, steady_since);
  std::ranges::sort(rows_, {}, [](const Row& row) { return std::pair(row.activation, row.path); });
  for (const Row& row : rows_) {
    write(number, view, row, begin);
  }
}

}  // namespace

Chains::Chains(const Storage& storage)
    : instances(storage, "instances",
                {{"chain", Coding::delta}, {"start", Coding::delta}, {"ending"}, {"parts"}}),
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
                   const Storage& storage) {
  Maker maker(model, recording, timeline, measurer, storage);
  for (std::size_t number = 0; number < model.chains.size(); ++number) {
    maker.add(number, begin, end, steady_since);
  }
  return maker.take();
}

}  // namespace takt::viewer
