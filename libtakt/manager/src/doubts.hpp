#pragma once

#include <vector>

#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"
#include "takt/model/model.hpp"
#include "words.hpp"

namespace takt::manager {

/// Takes the goals from chains of the model that depend on something in doubt, so that nothing is
/// reserved for them. Returns these chains, and the goals that were not found, as unmanaged.
[[nodiscard]] std::vector<ChainDecision> set_doubtful_aside(const Situation& situation,
                                                            const Labels& labels,
                                                            model::Model& model);

}  // namespace takt::manager
