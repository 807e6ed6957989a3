// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/internal/delayed_answer.hpp>
#include <troupe/runtime/internal/scenario_functions.hpp>
#include <troupe/runtime/internal/scenario_rules.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/scenario/scenario.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <atomic>

namespace troupe {

namespace {

using namespace internal;
using json = nlohmann::json;

constexpr std::size_t max_calls = 100'000;             // made by one reply
constexpr std::size_t max_text = std::size_t{4} << 20; // bytes of one reply
constexpr std::size_t bytes_per_token = 4;

std::string last_user_text(const transcript& contents) {
  for (auto i = contents.size(); i > 0; --i)
    if (contents[i - 1]->role == role::user)
      if (auto text = contents[i - 1]->text(); !text.empty())
        return text;
  return {};
}

bool last_results_hold(const transcript& contents, const std::string& tool) {
  for (auto i = contents.size(); i > 0 && contents[i - 1]->role != role::model; --i)
    for (const auto& part : contents[i - 1]->parts)
      if (const auto* result = std::get_if<tool_result_part>(&part.value); result && result->name == tool)
        return true;
  return false;
}

std::size_t size_of(const part& p) {
  struct visitor {
    std::size_t operator()(const text_part& x) const { return x.text.size(); }
    std::size_t operator()(const thought_part& x) const { return x.text.size(); }
    std::size_t operator()(const tool_call_part& x) const { return x.name.size() + x.arguments.size(); }
    std::size_t operator()(const tool_result_part& x) const { return x.text.size(); }
    std::size_t operator()(const data_part& x) const { return x.base64.size(); }
  };
  return std::visit(visitor{}, p.value);
}

// Makes the reply of one rule to one request.
class reply_maker {
 public:
  reply_maker(const scenario& all, const scenario_rule& rule, const model_request& request,
              scenario_values& values)
      : all_(all), rule_(rule), request_(request), values_(values) {}

  result<model_response> run() {
    model_response response;
    if (rule_.think) {
      auto text = rule_.think->text(values_);
      if (!text)
        return failed(text.failure());
      response.parts.push_back({thought_part{*std::move(text)}, {}});
    }
    auto text = make_text();
    if (!text)
      return failed(text.failure());
    if (!text->empty())
      response.parts.push_back({text_part{*std::move(text)}, {}});
    for (const auto& call : rule_.calls)
      if (auto made = make_calls(call, response.parts); !made)
        return failed(made.failure());
    bool calls = std::any_of(response.parts.begin(), response.parts.end(),
                             [](const part& p) { return std::holds_alternative<tool_call_part>(p.value); });
    response.finish = rule_.finish.value_or(calls ? finish_reason::tool_calls : finish_reason::stop);
    count_usage(response);
    return response;
  }

 private:
  error failed(const error& e) const {
    return {errc::model_bad_request, "Scenario " + all_.origin + ":" + std::to_string(rule_.line) + ", \"" +
                                         rule_.name + "\": " + e.message};
  }

  // Calls `make` once, or for each item of the loop with `item` and `index` set.
  template <class Make>
  status repeat(const scenario_loop& loop, Make&& make) {
    if (!loop.for_each)
      return make();
    auto list = loop.for_each->evaluate(values_);
    if (!list)
      return list.failure();
    if (!list->is_array())
      return {errc::model_bad_request,
              "for_each wants a list, found " + cut_text(dump_json(*list), 80) + "."};
    std::size_t index = 0;
    for (auto& item : *list) {
      bool fits = true;
      for (const auto& [field, value] : loop.where.items())
        fits = fits && member_of(item, field) == value;
      if (!fits)
        continue;
      values_.values["item"] = std::move(item);
      values_.values["index"] = index++;
      if (auto made = make(); !made)
        return made;
    }
    return ok();
  }

  result<std::string> make_text() {
    std::string out;
    if (rule_.object) {
      auto object = expand(*rule_.object);
      return object ? result<std::string>{dump_json(*object)} : result<std::string>{object.failure()};
    }
    for (const auto& piece : rule_.texts) {
      auto made = repeat(piece.loop, [&]() -> status {
        auto line = piece.line.text(values_);
        if (!line)
          return line.failure();
        if (out.size() + line->size() > max_text)
          return {errc::model_bad_request,
                  "the reply is longer than " + std::to_string(max_text) + " bytes."};
        out += *line;
        return ok();
      });
      if (!made)
        return made.failure();
    }
    return out;
  }

  status make_calls(const scenario_tool_call& call, std::vector<part>& parts) {
    return repeat(call.loop, [&]() -> status {
      auto name = call.tool.text(values_);
      if (!name)
        return name.failure();
      auto arguments = expand(call.arguments);
      if (!arguments)
        return arguments.failure();
      if (parts.size() >= max_calls)
        return {errc::model_bad_request,
                "the reply makes more than " + std::to_string(max_calls) + " calls."};
      parts.push_back({tool_call_part{{}, *std::move(name), dump_json(*arguments)}, {}});
      return ok();
    });
  }

  // `tree` with its templates replaced by their values.
  result<json> expand(const json& tree) {
    if (tree.is_string()) {
      auto found = all_.templates.find(tree.get_ref<const std::string&>());
      return found == all_.templates.end() ? result<json>{tree} : found->second.evaluate(values_);
    }
    if (!tree.is_structured())
      return tree;
    json out = tree;
    for (auto& item : out) {
      auto made = expand(item);
      if (!made)
        return made;
      item = *std::move(made);
    }
    return out;
  }

  void count_usage(model_response& response) const {
    std::size_t input = request_.head->system.size() + request_.reminder.size(), output = 0, thought = 0;
    for (std::size_t i = 0; i < request_.contents.size(); ++i)
      for (const auto& p : request_.contents[i]->parts)
        input += size_of(p);
    for (const auto& p : response.parts)
      (std::holds_alternative<thought_part>(p.value) ? thought : output) += size_of(p);
    auto tokens = [](std::size_t bytes) { return (bytes + bytes_per_token - 1) / bytes_per_token; };
    response.usage.input = tokens(input);
    response.usage.reasoning = tokens(thought);
    response.usage.output = tokens(output) + response.usage.reasoning;
  }

  const scenario& all_;
  const scenario_rule& rule_;
  const model_request& request_;
  scenario_values& values_;
};

std::vector<model_chunk> cut_chunks(const model_response& response, std::uint32_t pieces) {
  std::vector<model_chunk> chunks;
  for (const auto& p : response.parts) {
    const auto* thought = std::get_if<thought_part>(&p.value);
    const auto* text = std::get_if<text_part>(&p.value);
    if (!thought && !text)
      continue;
    std::string_view rest = thought ? thought->text : text->text;
    auto step = std::max<std::size_t>(rest.size() / pieces + 1, 4);
    while (!rest.empty()) {
      auto piece = utf8_prefix(rest, step);
      chunks.push_back({thought != nullptr, std::string{piece}});
      rest.remove_prefix(piece.size());
    }
  }
  return chunks;
}

class scenario_model final : public model_provider {
 public:
  scenario_model(scenario rules, timer& clock)
      : scenario_(std::move(rules)), failures_(scenario_.rules.size()), clock_(clock) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    scenario_values values;
    auto text = last_user_text(request->contents);
    std::map<std::string, json> results;
    values.results = [&](const std::string& tool) -> const json& {
      return results_of(*request, tool, results);
    };
    values.values = {{"text", text}, {"agent", request->agent}, {"turn", request->turn}};
    for (std::size_t i = 0; i < scenario_.rules.size(); ++i)
      if (fits(scenario_.rules[i], *request, text, values))
        return play(i, *request, text, values, std::move(sink));
    return answer_later(clock_, std::move(sink), {}, {}, no_rule(*request, text));
  }

 private:
  static const json& results_of(const model_request& request, const std::string& tool,
                                std::map<std::string, json>& cache) {
    auto [entry, added] = cache.emplace(tool, json::array());
    if (!added)
      return entry->second;
    for (std::size_t i = 0; i < request.contents.size(); ++i)
      for (const auto& p : request.contents[i]->parts)
        if (const auto* result = std::get_if<tool_result_part>(&p.value); result && result->name == tool)
          entry->second.push_back(valid_utf8(result->text));
    for (auto& item : entry->second)
      if (auto parsed = parse_json(item.get_ref<const std::string&>()); parsed && parsed->is_structured())
        item = *std::move(parsed);
    return entry->second;
  }

  static bool fits(const scenario_rule& rule, const model_request& request, const std::string& text,
                   scenario_values& values) {
    if ((rule.agent && !glob_match(*rule.agent, request.agent)) || (rule.turn && *rule.turn != request.turn))
      return false;
    if (rule.tool && !last_results_hold(request.contents, *rule.tool))
      return false;
    const auto& tools = request.head->tools;
    if (rule.offers &&
        (request.choice == tool_choice::none ||
         std::none_of(tools.begin(), tools.end(), [&](const auto& t) { return t.name == *rule.offers; })))
      return false;
    if (rule.system && !RE2::PartialMatch(request.head->system, *rule.system))
      return false;
    if (!rule.text)
      return true;
    std::vector<re2::StringPiece> groups(rule.groups.size() + 1);
    if (!rule.text->Match(text, 0, text.size(), RE2::UNANCHORED, groups.data(),
                          static_cast<int>(groups.size())))
      return false;
    for (std::size_t i = 0; i < rule.groups.size(); ++i)
      if (!rule.groups[i].empty())
        values.values[rule.groups[i]] =
            std::string{groups[i + 1].data() ? groups[i + 1] : re2::StringPiece{}};
    return true;
  }

  std::unique_ptr<model_call> play(std::size_t number, const model_request& request, const std::string& text,
                                   scenario_values& values, std::shared_ptr<model_sink> sink) {
    const auto& rule = scenario_.rules[number];
    auto latency = rule.least_latency;
    if (auto range = rule.most_latency - rule.least_latency; range.count() > 0) {
      auto hash = content_hash(std::to_string(rule.seed) + "|" + request.agent + "|" +
                               std::to_string(request.turn) + "|" + text);
      latency += std::chrono::milliseconds{
          static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(range.count() + 1))};
    }
    if (rule.failure) {
      auto before = failures_[number].fetch_add(1, std::memory_order_relaxed);
      if (!rule.failure->times || before < *rule.failure->times)
        return answer_later(clock_, std::move(sink), latency, {},
                            model_error{rule.failure->code,
                                        "The scenario's rule \"" + rule.name + "\" fails here on purpose.",
                                        rule.failure->retryable, rule.failure->retry_after});
    }
    auto response = reply_maker{scenario_, rule, request, values}.run();
    if (!response)
      return answer_later(clock_, std::move(sink), latency, {},
                          model_error{response.failure().code, response.failure().message, false, {}});
    auto chunks = request.stream ? cut_chunks(*response, rule.chunks) : std::vector<model_chunk>{};
    return answer_later(clock_, std::move(sink), latency, std::move(chunks), *std::move(response));
  }

  model_error no_rule(const model_request& request, const std::string& text) const {
    std::vector<std::string> names;
    for (const auto& rule : scenario_.rules)
      names.push_back(rule.name);
    return {errc::model_bad_request,
            "No rule of the scenario " + scenario_.origin + " fits agent \"" + request.agent + "\", turn " +
                std::to_string(request.turn) + ", text \"" + cut_text(text, 120) +
                "\". Tried: " + list_names(names, 20) + ".",
            false,
            {}};
  }

  scenario scenario_;
  std::vector<std::atomic<std::uint32_t>> failures_; // calls that met the error of a rule
  timer& clock_;
};

} // namespace

result<std::shared_ptr<model_provider>> load_scenario(std::string_view yaml, const std::string& origin,
                                                      timer& clock) {
  std::vector<load_issue> issues;
  auto rules = read_scenario(yaml, origin, issues);
  if (has_errors(issues))
    return {errc::bad_config, join_issues(issues)};
  return std::shared_ptr<model_provider>{std::make_shared<scenario_model>(std::move(rules), clock)};
}

} // namespace troupe
