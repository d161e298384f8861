#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "problem.hpp"
#include "takt/base/try.hpp"

namespace takt::shaping {

namespace {

constexpr std::size_t particles = 40;
constexpr int iterations = 200;
// Clerc and Kennedy, "The particle swarm: explosion, stability, and convergence", IEEE Transactions
// on Evolutionary Computation 6(1), 2002. The source gives no coefficients.
constexpr double inertia = 0.7298;
constexpr double attraction = 1.49618;

struct Particle {
  std::vector<double> position;
  std::vector<double> velocity;
  std::vector<double> best;
  double best_cost = std::numeric_limits<double>::infinity();
};

/// The slots that a point of the swarm's space stands for: rounded, in order, and pushed apart
/// towards the front. Empty: they cannot be.
std::vector<std::size_t> positions_of(const Problem& problem, std::vector<double> point) {
  std::ranges::sort(point);
  std::vector<std::size_t> positions(point.size() + 1, problem.last());
  for (std::size_t i = point.size(); i-- > 0;) {
    if (positions[i + 1] < problem.least_distance()) return {};
    const auto wanted = static_cast<std::size_t>(std::max(std::round(point[i]), 0.0));
    positions[i] = std::min(wanted, positions[i + 1] - problem.least_distance());
    if (positions[i + 1] - positions[i] > problem.greatest_distance()) return {};
  }
  return positions;
}

}  // namespace

Result<Placement> place_by_swarm(const Profile& profile, const PlacementOptions& options,
                                 std::uint64_t seed) {
  const Problem problem = TAKT_TRY(Problem::make(profile, options));
  std::mt19937_64 engine(seed);
  const auto random = [&] { return static_cast<double>(engine() >> 11U) * 0x1p-53; };
  const auto top = static_cast<double>(problem.last());
  std::vector<Particle> swarm(particles);
  std::vector<double> best;
  double best_cost = std::numeric_limits<double>::infinity();
  const auto look = [&](Particle& particle) {
    const auto positions = positions_of(problem, particle.position);
    if (positions.empty()) return;
    const double cost = problem.placement(positions).cost;
    if (cost < particle.best_cost) {
      particle.best = particle.position;
      particle.best_cost = cost;
    }
    if (cost < best_cost) {
      best = particle.position;
      best_cost = cost;
    }
  };
  for (Particle& particle : swarm) {
    for (std::size_t i = 1; i < options.bands; ++i) {
      particle.position.push_back(top * random());
      particle.velocity.push_back(top * (random() - 0.5) / 2);
    }
    particle.best = particle.position;
    look(particle);
  }
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (Particle& particle : swarm) {
      for (std::size_t i = 0; i < particle.position.size(); ++i) {
        double& place = particle.position[i];
        double& velocity = particle.velocity[i];
        const double common = best.empty() ? place : best[i];
        velocity = inertia * velocity + attraction * random() * (particle.best[i] - place) +
                   attraction * random() * (common - place);
        place = std::clamp(place + velocity, 0.0, top);
      }
      look(particle);
    }
  }
  if (!std::isfinite(best_cost)) {
    return error("the particle swarm found no slots that keep their distances");
  }
  return problem.placement(positions_of(problem, best));
}

}  // namespace takt::shaping
