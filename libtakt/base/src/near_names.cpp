#include "takt/base/near_names.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace takt {
namespace {

constexpr std::size_t most_proposed = 3;
constexpr std::size_t longest_compared = 512;

/// The fewest characters to insert, remove or replace (Levenshtein distance), in
/// O(|left| · |right|).
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> near_names(std::span<const std::string> known, std::string_view name) {
  const std::string_view sought = bare(name).substr(0, longest_compared);
  std::map<std::string_view, std::string_view> by_bare_name;
  for (const std::string& candidate : known) by_bare_name.emplace(bare(candidate), candidate);
  std::vector<std::pair<std::size_t, std::string_view>> alike;
  for (const auto& [bare_name, whole] : by_bare_name) {
    const std::string_view candidate = bare_name.substr(0, longest_compared);
    const bool is_part = sought.size() > 2 && candidate.find(sought) != std::string_view::npos;
    const std::size_t changes = is_part ? 1 : distance(sought, candidate);
    if (changes <= std::max<std::size_t>(2, sought.size() / 3)) alike.emplace_back(changes, whole);
  }
  std::ranges::sort(alike);
  std::vector<std::string> proposed;
  for (const auto& [changes, whole] : alike) {
    if (proposed.size() < most_proposed && changes == alike.front().first) {
      proposed.emplace_back(whole);
    }
  }
  return proposed;
}

}  // namespace takt
