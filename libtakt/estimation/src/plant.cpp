#include "takt/estimation/plant.hpp"

#include <algorithm>
#include <set>

#include "takt/base/try.hpp"

namespace takt::estimation {

namespace {

Result<void> add_all(Formulas& formulas, const std::vector<std::string>& texts, std::size_t wanted,
                     const std::string& path) {
  if (texts.size() != wanted) return error("{}: must have {} elements", path, wanted);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TAKT_TRY(formulas.add(texts[i], fmt::format("{}[{}]", path, i)));
  }
  return {};
}

Result<void> add_all(Formulas& formulas, const std::vector<std::vector<std::string>>& rows,
                     std::size_t wanted, std::size_t columns, const std::string& path) {
  if (rows.size() != wanted) return error("{}: must have {} rows", path, wanted);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TAKT_TRY(add_all(formulas, rows[i], columns, fmt::format("{}[{}]", path, i)));
  }
  return {};
}

}  // namespace

Result<Plant> Plant::make(const PlantDescription& description, double period,
                          std::string_view path) {
  const std::size_t n = description.states.size();
  const std::size_t m = description.inputs.size();
  const std::size_t p = description.measurements.size();
  if (n < 1 || n > most_states) return error("{}.states: must be 1 to {}", path, most_states);
  if (m < 1 || m > most_states) return error("{}.inputs: must be 1 to {}", path, most_states);
  if (p < 1 || p > most_measurements) {
    return error("{}.measurements: must be 1 to {}", path, most_measurements);
  }
  std::vector<std::string> variables = description.states;
  variables.insert(variables.end(), description.inputs.begin(), description.inputs.end());
  std::vector<std::string> named = variables;
  for (const auto& [name, value] : description.parameters) named.push_back(name);
  std::set<std::string> names{"pi", "E"};
  for (const std::string& name : named) {
    if (!names.insert(name).second) return error("{}: \"{}\" names two things", path, name);
  }
  const Formulas none(variables, description.parameters);
  Translated translated{none, none, none, none};
  const std::string base(path);
  TAKT_TRY(add_all(translated.dynamics, description.dynamics, n, base + ".dynamics"));
  TAKT_TRY(add_all(translated.outputs, description.outputs, p, base + ".outputs"));
  static_cast<void>(
      add_all(translated.dynamics_with_jacobian, description.dynamics, n, base + ".dynamics"));
  TAKT_TRY(add_all(translated.dynamics_with_jacobian, description.dynamics_jacobian, n, n,
                   base + ".jacobians.dynamics"));
  TAKT_TRY(add_all(translated.outputs_jacobian, description.outputs_jacobian, p, n,
                   base + ".jacobians.outputs"));
  return Plant(description, period, std::make_shared<const Translated>(std::move(translated)));
}

Plant::Plant(const PlantDescription& description, double period,
             std::shared_ptr<const Translated> translated)
    : states_(static_cast<Eigen::Index>(description.states.size())),
      inputs_(static_cast<Eigen::Index>(description.inputs.size())),
      measurements_(static_cast<Eigen::Index>(description.measurements.size())),
      is_continuous_(description.is_continuous),
      steps_(description.integration_steps),
      step_(period / description.integration_steps),
      formulas_(std::move(translated)),
      variables_(static_cast<std::size_t>(states_ + inputs_)),
      registers_(
          std::max({formulas_->dynamics.registers(), formulas_->dynamics_with_jacobian.registers(),
                    formulas_->outputs.registers(), formulas_->outputs_jacobian.registers()})),
      values_(static_cast<std::size_t>(
          std::max(states_ * (states_ + 1), measurements_ * (states_ + 1)))),
      at_(states_),
      partial_(states_, states_),
      product_(states_, states_) {
  slopes_.fill(AnyVector(states_));
  slope_jacobians_.fill(AnyMatrix(states_, states_));
}

void Plant::evaluate(const Formulas& formulas, const AnyVector& state, const AnyVector& input) {
  std::ranges::copy(state, variables_.begin());
  std::ranges::copy(input, variables_.begin() + states_);
  formulas.evaluate(variables_.data(), registers_.data(), values_.data());
}

void Plant::dynamics(const AnyVector& state, const AnyVector& input, AnyVector& value) {
  evaluate(formulas_->dynamics, state, input);
  value = Eigen::Map<const AnyVector>(values_.data(), states_);
}

void Plant::slope(const AnyVector& state, const AnyVector& input, AnyVector& value,
                  AnyMatrix& jacobian) {
  evaluate(formulas_->dynamics_with_jacobian, state, input);
  value = Eigen::Map<const AnyVector>(values_.data(), states_);
  for (Eigen::Index i = 0; i < states_; ++i) {
    for (Eigen::Index j = 0; j < states_; ++j) {
      jacobian(i, j) = values_[static_cast<std::size_t>(states_ + i * states_ + j)];
    }
  }
}

void Plant::step(const AnyVector& state, const AnyVector& input, AnyVector& next) {
  if (!is_continuous_) {
    dynamics(state, input, next);
    return;
  }
  auto& [first, second, third, fourth] = slopes_;
  next = state;
  for (int i = 0; i < steps_; ++i) {
    dynamics(next, input, first);
    at_ = next + 0.5 * step_ * first;
    dynamics(at_, input, second);
    at_ = next + 0.5 * step_ * second;
    dynamics(at_, input, third);
    at_ = next + step_ * third;
    dynamics(at_, input, fourth);
    next += step_ / 6 * (first + 2 * second + 2 * third + fourth);
  }
}

void Plant::step(const AnyVector& state, const AnyVector& input, AnyVector& next,
                 AnyMatrix& jacobian) {
  if (!is_continuous_) {
    slope(state, input, next, jacobian);
    return;
  }
  auto& [first, second, third, fourth] = slopes_;
  auto& [by_first, by_second, by_third, by_fourth] = slope_jacobians_;
  next = state;
  jacobian.setIdentity();
  // The derivative of each slope by the state at the beginning of the step is its derivative by its
  // own argument, times that of the argument by the state.
  const auto chain = [&](AnyMatrix& by_argument, const AnyMatrix& earlier, double factor) {
    partial_.setIdentity();
    partial_ += factor * earlier;
    product_.noalias() = by_argument * partial_;
    by_argument = product_;
  };
  for (int i = 0; i < steps_; ++i) {
    slope(next, input, first, by_first);
    at_ = next + 0.5 * step_ * first;
    slope(at_, input, second, by_second);
    chain(by_second, by_first, 0.5 * step_);
    at_ = next + 0.5 * step_ * second;
    slope(at_, input, third, by_third);
    chain(by_third, by_second, 0.5 * step_);
    at_ = next + step_ * third;
    slope(at_, input, fourth, by_fourth);
    chain(by_fourth, by_third, step_);
    next += step_ / 6 * (first + 2 * second + 2 * third + fourth);
    partial_.setIdentity();
    partial_ += step_ / 6 * (by_first + 2 * by_second + 2 * by_third + by_fourth);
    product_.noalias() = partial_ * jacobian;
    jacobian = product_;
  }
}

void Plant::output(const AnyVector& state, const AnyVector& input, AnyVector& output) {
  evaluate(formulas_->outputs, state, input);
  output = Eigen::Map<const AnyVector>(values_.data(), measurements_);
}

void Plant::output_jacobian(const AnyVector& state, const AnyVector& input, AnyMatrix& jacobian) {
  evaluate(formulas_->outputs_jacobian, state, input);
  for (Eigen::Index i = 0; i < measurements_; ++i) {
    for (Eigen::Index j = 0; j < states_; ++j) {
      jacobian(i, j) = values_[static_cast<std::size_t>(i * states_ + j)];
    }
  }
}

}  // namespace takt::estimation
