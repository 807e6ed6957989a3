// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/provider_options.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {
namespace {

// Takes options by name; whatever is left in the end is unknown. The first fault is kept.
class option_reader {
 public:
  explicit option_reader(const model_spec& spec) : spec_(spec) {}

  void flag(const char* name, bool& out) { word<bool>(name, {{"true", true}, {"false", false}}, out); }

  void text(const char* name, std::string& out) {
    if (const auto* value = find(name))
      out = *value;
  }

  void count(const char* name, std::uint32_t& out) {
    const auto* value = find(name);
    if (value == nullptr)
      return;
    std::uint32_t number = 0;
    auto [end, bad] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (bad != std::errc{} || end != value->data() + value->size())
      return fault(name, "a whole number");
    out = number;
  }

  template <class T>
  void word(const char* name, std::initializer_list<std::pair<const char*, T>> words, T& out) {
    const auto* value = find(name);
    if (value == nullptr)
      return;
    std::string known;
    for (const auto& [text, meaning] : words) {
      if (*value == text) {
        out = meaning;
        return;
      }
      known.append(known.empty() ? "" : " or ").append(text);
    }
    fault(name, known);
  }

  // A JSON object, of which the members are kept.
  void members(const char* name, std::string& out) {
    const auto* value = find(name);
    if (value == nullptr)
      return;
    const auto json = nlohmann::json::parse(*value, nullptr, false);
    if (!json.is_object())
      return fault(name, "a JSON object");
    const auto text = json.dump();
    out = text.substr(1, text.size() - 2);
  }

  [[nodiscard]] status finish() {
    for (const auto& [name, value] : spec_.options)
      if (!is_known(name) && !failure_)
        failure_ = error{errc::bad_config, "there is no option '" + name + "' for provider '" +
                                               spec_.provider + "'. Options: " + known_names() + "."};
    return failure_ ? status{*failure_} : ok();
  }

 private:
  const std::string* find(const char* name) {
    known_.emplace_back(name);
    auto found = spec_.options.find(name);
    return found == spec_.options.end() ? nullptr : &found->second;
  }
  void fault(const char* name, const std::string& expected) {
    if (!failure_)
      failure_ = error{errc::bad_config, std::string("option '") + name + "' is '" + spec_.options.at(name) +
                                             "'; expected " + expected + "."};
  }
  bool is_known(const std::string& name) const {
    for (const auto& known : known_)
      if (known == name)
        return true;
    return false;
  }
  std::string known_names() const {
    std::string out;
    for (const auto& name : known_)
      out.append(out.empty() ? "" : ", ").append(name);
    return out;
  }

  const model_spec& spec_;
  std::vector<std::string> known_;
  std::optional<error> failure_;
};

void read_service(option_reader& in, net::model_service& out) {
  in.members("extra_body", out.extra_body);
}

void read_budgets(option_reader& in, net::thinking_budgets& out) {
  in.count("budget_low", out.low);
  in.count("budget_medium", out.medium);
  in.count("budget_high", out.high);
}

} // namespace

status read_options(const model_spec& spec, net::openai_options& out) {
  option_reader in(spec);
  read_service(in, out);
  in.flag("stream_usage", out.stream_usage);
  in.flag("legacy_max_tokens", out.legacy_max_tokens);
  in.flag("strict_schema", out.strict_schema);
  in.flag("return_reasoning", out.return_reasoning);
  in.text("effort_off", out.effort_off);
  return in.finish();
}

status read_options(const model_spec& spec, net::openai_responses_options& out) {
  using net::encrypted_reasoning;
  option_reader in(spec);
  read_service(in, out);
  in.word<encrypted_reasoning>("encrypted",
                               {{"by_model", encrypted_reasoning::by_model},
                                {"never", encrypted_reasoning::never},
                                {"always", encrypted_reasoning::always}},
                               out.encrypted);
  in.flag("strict_schema", out.strict_schema);
  in.text("effort_off", out.effort_off);
  in.text("summary", out.summary_kind);
  return in.finish();
}

status read_options(const model_spec& spec, net::gemini_options& out) {
  option_reader in(spec);
  read_service(in, out);
  in.members("extra_config", out.extra_config);
  in.flag("schema_subset", out.schema_subset);
  in.flag("include_thoughts", out.include_thoughts);
  read_budgets(in, out.budgets);
  return in.finish();
}

status read_options(const model_spec& spec, net::anthropic_options& out) {
  using net::anthropic_cache;
  using net::anthropic_thinking;
  option_reader in(spec);
  read_service(in, out);
  std::string beta;
  in.text("beta", beta);
  if (!beta.empty())
    out.headers.emplace_back("anthropic-beta", std::move(beta));
  in.text("version", out.version);
  in.word<anthropic_cache>("cache",
                           {{"none", anthropic_cache::none},
                            {"prefix", anthropic_cache::prefix},
                            {"conversation", anthropic_cache::conversation}},
                           out.cache);
  in.word<anthropic_thinking>("thinking",
                              {{"by_model", anthropic_thinking::by_model},
                               {"budget", anthropic_thinking::budget},
                               {"adaptive", anthropic_thinking::adaptive}},
                              out.thinking);
  read_budgets(in, out.budgets);
  in.count("default_max_tokens", out.default_max_tokens);
  in.count("max_resumptions", out.max_resumptions);
  return in.finish();
}

} // namespace troupe
