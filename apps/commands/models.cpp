// troupe models: the catalogue, and whether it can be used.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/duration_text.hpp>
#include <troupe/runtime/surface.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <CLI/App.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "setup.hpp"

namespace troupe::cli {
namespace {

struct models_arguments {
  setup_options setup;
  std::vector<std::string> ids;
  std::string timeout = "30s";
  std::size_t parallel = 8;
};

// Those of the configuration, and the embedded one.
std::vector<model_spec> catalogue(const setup_options& options) {
  auto prepared = make_setup(options);
  if (!prepared)
    throw config_error{prepared.failure()};
  auto models = std::move(prepared->runtime.models);
  const bool has_own =
      std::any_of(models.begin(), models.end(), [](const auto& m) { return m.id == "scenario"; });
  if (!has_own)
    models.push_back(
        {.id = "scenario", .provider = "scenario", .description = "embedded: plays rules, needs no key"});
  return models;
}

std::vector<model_spec> chosen_models(const models_arguments& arguments) {
  auto all = catalogue(arguments.setup);
  if (arguments.ids.empty())
    return all;
  std::vector<std::string> names;
  for (const auto& spec : all)
    names.push_back(spec.id);
  std::vector<model_spec> out;
  for (const auto& id : arguments.ids) {
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& spec) { return spec.id == id; });
    if (found == all.end())
      throw config_error{{errc::unknown_model, "There is no model '" + id + "'." + did_you_mean(id, names) +
                                                   " Models: " + list_names(names) + "."}};
    out.push_back(*found);
  }
  return out;
}

int list_models(const models_arguments& arguments) {
  for (const auto& spec : catalogue(arguments.setup))
    std::printf("%-24s %-16s %-28s %s\n", shown(spec.id).c_str(), shown(spec.provider).c_str(),
                shown(spec.model.empty() ? spec.id : spec.model).c_str(), shown(spec.description).c_str());
  return exit_completed;
}

int check_catalogue(const models_arguments& arguments) {
  model_check_options options;
  auto timeout = parse_duration(arguments.timeout);
  if (!timeout)
    throw config_error{timeout.failure()};
  options.timeout = *timeout;
  options.parallel = arguments.parallel;
  options.record = arguments.setup.record;
  options.replay = arguments.setup.replay;
  auto checked = check_models(chosen_models(arguments), options);
  if (!checked)
    throw config_error{checked.failure()};
  int code = exit_completed;
  for (const auto& model : *checked) {
    std::printf("%-24s %-16s %-28s ", shown(model.id).c_str(), shown(model.provider).c_str(),
                shown(model.model).c_str());
    if (model.failure) {
      code = exit_failed;
      std::printf("%s: %s\n", std::string{to_string(model.failure->code)}.c_str(),
                  shown(model.failure->message).c_str());
    } else {
      std::printf("ok, %s\n", duration_text(model.latency).c_str());
    }
  }
  return code;
}

} // namespace

void add_models(CLI::App& app, action& chosen) {
  auto* command = app.add_subcommand("models", "List and check the models");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* help, auto work) {
    auto arguments = std::make_shared<models_arguments>();
    auto* sub = command->add_subcommand(name, help);
    sub->add_option("-c,--config", arguments->setup.config_file,
                    "Configuration; troupe.yaml in the working folder by default")
        ->each([arguments](const std::string&) { arguments->setup.config_given = true; });
    sub->callback([&chosen, arguments, work] { chosen = [arguments, work] { return work(*arguments); }; });
    return std::pair{sub, arguments};
  };
  add("list", "The models that agents may use: id, provider, its model, description", list_models);
  auto [check, arguments] =
      add("check", "Ask each model for one word, and say which of them answer", check_catalogue);
  check->add_option("id", arguments->ids, "Models to check; all by default");
  check->add_option("--timeout", arguments->timeout, "Time of one call: 500ms, 30s, 1m");
  check->add_option("--parallel", arguments->parallel, "Calls at a time")->check(CLI::Range(1U, 1000U));
  add_tape_options(*check, std::shared_ptr<setup_options>(arguments, &arguments->setup));
  check->footer("Exit codes: 0 all answer, 1 some do not, 2 usage or configuration.");
}

} // namespace troupe::cli
