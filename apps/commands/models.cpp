// troupe models: the catalogue.
//
// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>

#include <cstdio>
#include <memory>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "setup.hpp"
#include "surface.hpp"

namespace troupe::cli {
namespace {

int list_models(const setup_options& options) {
  auto prepared = make_setup(options);
  if (!prepared)
    throw config_error{prepared.failure()};
  runtime rt{prepared->runtime};
  for (const auto& [id, description] : rt.models())
    std::printf("%-24s %s\n", shown(id).c_str(), shown(description).c_str());
  return exit_completed;
}

} // namespace

void add_models(CLI::App& app, action& chosen) {
  auto options = std::make_shared<setup_options>();
  auto* command = app.add_subcommand("models", "Show the models");
  command->require_subcommand(1);
  auto* list = command->add_subcommand("list", "List the models that agents may use");
  list->add_option("-c,--config", options->config_file, "Configuration; troupe.yaml by default");
  list->callback([&chosen, options] { chosen = [options] { return list_models(*options); }; });
}

} // namespace troupe::cli
