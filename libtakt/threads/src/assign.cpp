#include "takt/threads/assign.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace takt::threads {

namespace {

using Kind = SeenThread::Kind;

bool runs_group(const Row& row, const SeenThread& thread) {
  return std::ranges::any_of(thread.callbacks, [&](const SeenCallback& callback) {
    return callback.node == row.node && std::ranges::count(callback.names, row.group) != 0;
  });
}

bool is_about(const Row& row, const SeenThread& thread, const std::vector<std::string>& nodes) {
  if (!std::ranges::binary_search(nodes, row.node)) return false;
  switch (row.subject) {
    case Subject::node:
      return thread.kind != Kind::middleware;
    case Subject::executor:
      return thread.kind == Kind::executor;
    case Subject::middleware:
      return thread.kind == Kind::middleware;
    case Subject::group:
      break;
  }
  return thread.kind == Kind::executor && runs_group(row, thread);
}

/// Why a group has no thread of its own; empty if it has.
std::string what_shares(const Row& row, const SeenThread& thread) {
  constexpr auto remedy = "give the group an executor of its own, or write 'executor: {}'";
  if (thread.of_executor > 1) {
    return fmt::format("it shares the {} threads of its executor; {}", thread.of_executor,
                       fmt::format(fmt::runtime(remedy), row.node));
  }
  std::vector<std::string> others = thread.nodes;
  std::erase(others, row.node);
  if (others.empty()) return "";
  return fmt::format("its thread also runs {}; {}", fmt::join(others, ", "),
                     fmt::format(fmt::runtime(remedy), row.node));
}

bool want_the_same(const Row& a, const Row& b) {
  return a.scheduling == b.scheduling && a.cores == b.cores;
}

}  // namespace

Assignment assign(const std::vector<Row>& rows, const std::vector<SeenThread>& threads) {
  Assignment found;
  const auto add_problem = [&](std::size_t row, std::string reason, bool is_repeated = false) {
    Problem problem{row, std::move(reason), is_repeated};
    if (std::ranges::count(found.problems, problem) == 0) {
      found.problems.push_back(std::move(problem));
    }
  };
  const auto rows_about = [&](const SeenThread& thread, const std::vector<std::string>& nodes) {
    std::vector<std::size_t> about;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!is_about(rows[r], thread, nodes)) continue;
      const std::string shared =
          rows[r].subject == Subject::group ? what_shares(rows[r], thread) : "";
      if (shared.empty()) {
        about.push_back(r);
      } else {
        add_problem(r, shared);
      }
    }
    return about;
  };
  const auto contradict = [&](std::size_t row, std::size_t other, bool is_repeated) {
    add_problem(row,
                fmt::format("it wants {} of a thread of which threads[{}] ({}) wants {}; "
                            "remove one of them, or give each an executor of its own",
                            settings_of(rows[row]), other, subject_of(rows[other]),
                            settings_of(rows[other])),
                is_repeated);
  };
  for (std::size_t t = 0; t < threads.size(); ++t) {
    std::vector<std::size_t> about = rows_about(threads[t], threads[t].nodes);
    const bool is_supposed = about.empty();
    if (is_supposed) about = rows_about(threads[t], threads[t].supposed);
    const auto other = std::ranges::find_if(
        about, [&](std::size_t r) { return !want_the_same(rows[about.front()], rows[r]); });
    if (other == about.end()) {
      for (const std::size_t r : about) found.fits.push_back({r, t});
      continue;
    }
    if (is_supposed) continue;
    contradict(*other, about.front(), false);
    contradict(about.front(), *other, true);
  }
  return found;
}

}  // namespace takt::threads
