#include "chains_by_rank.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace takt::budget {

std::vector<std::size_t> chains_by_rank(const model::Model& model) {
  std::vector<std::size_t> chains;
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    if (model.chains[c].goal) chains.push_back(c);
  }
  std::ranges::stable_sort(chains, {}, [&](std::size_t c) {
    return model.chains[c].rank.value_or(std::numeric_limits<std::int64_t>::max());
  });
  return chains;
}

}  // namespace takt::budget
