#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/budget/mapping.hpp"
#include "takt/model/model.hpp"

/// Whether cores can give the executors of a model what the model says that they get.
namespace takt::budget {

/// The demand of the slots of executors that have some.
[[nodiscard]] std::vector<Load> loads_of_slots(const model::Model& model);

/// Whether the cores serve the model as it stands: all of its reservations and slots where they are
/// (see serve()), and a core of its own for each thread of an executor on a whole processor that
/// one of these chains depends on. `chains` are indices in Model::chains. Devices and threads
/// outside ROS take no core, and other executors run as best effort on one that is left.
[[nodiscard]] bool admit(const model::Model& model, std::span<const std::size_t> chains,
                         const Cores& cores);

}  // namespace takt::budget
