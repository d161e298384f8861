#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "takt/analysis/analyze.hpp"
#include "takt/model/json.hpp"

// Prints the bound of each chain of a model, in nanoseconds.
int main(int, char** argv) {
  std::ifstream file(argv[1]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto document = takt::model::parse(text, argv[1]);
  if (!document) {
    std::fprintf(stderr, "%s\n", document.error().message.c_str());
    return 2;
  }
  const auto bounds = takt::analysis::analyze(document->model);
  for (std::size_t i = 0; i < bounds.chains.size(); ++i) {
    const auto& bound = bounds.chains[i].bound;
    std::printf("%s %lld\n", document->model.chains[i].id.c_str(),
                bound ? static_cast<long long>(bound->count()) : -1LL);
  }
}
