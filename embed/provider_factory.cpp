// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/provider_factory.hpp>
#include <troupe/embed/internal/provider_options.hpp>
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/scenario/scenario.hpp>

#include <cstdlib>

namespace troupe {
namespace {

constexpr std::size_t max_scenario_bytes = std::size_t{4} << 20;

error fault(const model_spec& spec, const std::string& what) {
  return {errc::bad_config, "Model '" + spec.id + "': " + what};
}

result<std::string> read_file(const model_spec& spec, const std::string& path, std::size_t max_bytes) {
  auto text = read_file_text(path, max_bytes);
  if (!text)
    return fault(spec, text.failure().message);
  return text;
}

result<std::string> find_key(const model_spec& spec) {
  if (!spec.api_key_env.empty()) {
    const char* value = std::getenv(spec.api_key_env.c_str());
    if (value == nullptr || *value == '\0')
      return fault(spec, "the environment variable " + spec.api_key_env + " that holds its key is not set.");
    return std::string{value};
  }
  if (spec.api_key_file.empty())
    return std::string{};
  auto text = read_file(spec, spec.api_key_file, 64 * 1024);
  if (!text)
    return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' '))
    text->pop_back();
  return text;
}

result<std::shared_ptr<model_provider>> make_scenario(const model_spec& spec, timer& clock) {
  if (spec.scenario.empty())
    return load_scenario(builtin_scenario(), "the embedded scenario", clock);
  auto text = read_file(spec, spec.scenario, max_scenario_bytes);
  if (!text)
    return std::move(text).failure();
  return load_scenario(*text, spec.scenario, clock);
}

using client_ptr = std::shared_ptr<net::http_client>;

void read_wire(const model_spec& spec, net::model_service& out) {
  const auto set = [](std::chrono::milliseconds& value,
                      const std::optional<std::chrono::milliseconds>& given) {
    value = given.value_or(value);
  };
  set(out.timeouts.connect, spec.timeouts.connect);
  set(out.timeouts.first_byte, spec.timeouts.first_byte);
  set(out.timeouts.idle, spec.timeouts.idle);
  out.timeouts.total = spec.timeouts.total;
  out.ca_file = spec.ca_file;
  out.headers.assign(spec.headers.begin(), spec.headers.end());
}

template <class Options>
result<std::shared_ptr<model_provider>>
make_service(const model_spec& spec, const client_ptr& client, const provider_conditions& conditions,
             result<std::shared_ptr<model_provider>> (*make)(Options, client_ptr)) {
  if (conditions.proxy_fault)
    return fault(spec, conditions.proxy_fault->message);
  Options options;
  options.base_url = spec.base_url;
  read_wire(spec, options);
  if (conditions.is_replay) {
    options.ca_file.clear();
  } else {
    auto key = find_key(spec);
    if (!key)
      return std::move(key).failure();
    options.api_key = std::move(*key);
  }
  if (auto read = read_options(spec, options); !read)
    return fault(spec, read.failure().message);
  auto provider = make(std::move(options), client);
  if (!provider)
    return fault(spec, provider.failure().message);
  return provider;
}

} // namespace

result<std::shared_ptr<model_provider>> make_provider(const model_spec& spec, const client_ptr& client,
                                                      timer& clock, const provider_conditions& conditions) {
  if (spec.id.empty())
    return error{errc::bad_config, "A model needs an id."};
  if (spec.provider == "scenario")
    return make_scenario(spec, clock);
  if (spec.provider == "openai")
    return make_service(spec, client, conditions, net::make_openai_provider);
  if (spec.provider == "openai_responses")
    return make_service(spec, client, conditions, net::make_openai_responses_provider);
  if (spec.provider == "gemini")
    return make_service(spec, client, conditions, net::make_gemini_provider);
  if (spec.provider == "anthropic")
    return make_service(spec, client, conditions, net::make_anthropic_provider);
  return fault(spec, "there is no provider '" + spec.provider +
                         "'. Providers: openai, openai_responses, gemini, anthropic, scenario.");
}

} // namespace troupe
