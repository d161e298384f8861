#include "search.hpp"

#include <algorithm>

#include "takt/generation/random.hpp"

namespace takt::brute_force {

namespace {

using generation::Random;

Worst nothing_seen(const model::Model& model, const Choices& choices) {
  return {std::vector<Witness>(model.callbacks.size(), {0, choices}),
          std::vector<Witness>(model.chains.size(), {0, choices})};
}

void note(std::int64_t response, const Choices& choices, Witness& worst) {
  if (response > worst.response) worst = {response, choices};
}

void note(const Observation& seen, const Choices& choices, Worst& worst) {
  for (std::size_t i = 0; i < seen.callbacks.size(); ++i) {
    note(seen.callbacks[i], choices, worst.callbacks[i]);
  }
  for (std::size_t i = 0; i < seen.chains.size(); ++i) {
    note(seen.chains[i], choices, worst.chains[i]);
  }
}

std::uint16_t random_choice(Random& random) {
  return random.chance(60) ? std::uint16_t{0} : static_cast<std::uint16_t>(random.between(0, 997));
}

/// Random first choices of some sequences.
void randomise(const std::vector<std::size_t>& made, Choices& choices, Random& random) {
  auto& sequences = choices.sequences();
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    sequences[s].clear();
    if (made[s] == 0 || random.chance(40)) continue;
    for (std::size_t n = 0; n < std::min<std::size_t>(made[s], 12); ++n) {
      sequences[s].push_back(random_choice(random));
    }
  }
}

/// Changes one choice, or what follows it.
void mutate(const std::vector<std::size_t>& made, Choices& choices, Random& random) {
  auto& sequences = choices.sequences();
  std::vector<std::size_t> used;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    if (made[s] > 0) used.push_back(s);
  }
  const std::size_t s = used[static_cast<std::size_t>(random.between(0, std::ssize(used) - 1))];
  auto& values = sequences[s];
  const auto position = static_cast<std::size_t>(
      random.between(0, std::min<std::int64_t>(static_cast<std::int64_t>(made[s]), 20) - 1));
  if (random.chance(10)) {
    values.resize(std::min(values.size(), position));
    return;
  }
  if (values.size() <= position) values.resize(position + 1);
  std::uint16_t& value = values[position];
  switch (random.between(0, 2)) {
    case 0:
      value = random_choice(random);
      break;
    case 1:
      ++value;
      break;
    default:
      if (value > 0) --value;
  }
}

}  // namespace

Worst search(const model::Model& model, std::int64_t horizon, Effort effort, std::uint64_t seed,
             Sending sending, Supplying supplying) {
  const Scheduler scheduler(model, sending, supplying);
  Random random(seed);
  Choices choices = scheduler.no_choices();
  Worst worst = nothing_seen(model, choices);
  note(scheduler.run(choices, horizon), choices, worst);
  const std::vector<std::size_t> made = choices.made();
  for (int n = 0; n < effort.random; ++n) {
    randomise(made, choices, random);
    note(scheduler.run(choices, horizon), choices, worst);
  }
  // A step that changes nothing for the target is taken too: it may open the way.
  const auto climb = [&](auto list, std::size_t target) {
    choices = (worst.*list)[target].choices;
    std::int64_t height = (worst.*list)[target].response;
    for (int n = 0; n < effort.climbing; ++n) {
      Choices changed = choices;
      mutate(made, changed, random);
      const Observation seen = scheduler.run(changed, horizon);
      note(seen, changed, worst);
      const auto reached = list == &Worst::callbacks ? seen.callbacks[target] : seen.chains[target];
      if (reached < height) continue;
      height = reached;
      choices = std::move(changed);
    }
  };
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) climb(&Worst::callbacks, i);
  for (std::size_t i = 0; i < model.chains.size(); ++i) climb(&Worst::chains, i);
  return worst;
}

Enumeration enumerate(const model::Model& model, std::int64_t horizon, std::size_t count,
                      std::int64_t most_schedules, Sending sending) {
  const Scheduler scheduler(model, sending);
  Choices choices = scheduler.no_choices();
  choices.enumerate(count);
  Enumeration result{nothing_seen(model, choices)};
  do {
    if (result.schedules == most_schedules) return result;
    ++result.schedules;
    note(scheduler.run(choices, horizon), choices, result.worst);
  } while (choices.next());
  result.complete = true;
  return result;
}

}  // namespace takt::brute_force
