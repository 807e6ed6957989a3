// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/telemetry_names.hpp>
#include <troupe/runtime/telemetry/telemetry_options.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace troupe {
namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + ('a' - 'A')) : x) == y;
  });
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    std::uint8_t byte = 0;
    const auto* begin = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2)
      return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

// "a=1,b=x%20y" (W3C Baggage without properties).
std::optional<pairs> read_pairs(std::string_view text) {
  pairs out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto item = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (item.empty())
      continue;
    const auto equals = item.find('=');
    const auto key = trimmed(item.substr(0, equals));
    if (equals == std::string_view::npos || key.empty())
      return std::nullopt;
    auto value = percent_decoded(trimmed(item.substr(equals + 1)));
    if (!value)
      return std::nullopt;
    out.emplace_back(key, std::move(*value));
  }
  return out;
}

class environment_reader {
 public:
  environment_reader(const telemetry_options& options,
                     const std::function<const char*(const char* name)>& variable,
                     std::vector<std::string>& warnings)
      : enabled_(options.from_environment), variable_(variable), warnings_(warnings) {}

  [[nodiscard]] std::string text(const char* name) const {
    const char* value = enabled_ ? variable_(name) : nullptr;
    return value == nullptr ? std::string{} : std::string{trimmed(value)};
  }

  // Of the first variable that is set; the value itself is not shown.
  [[nodiscard]] std::optional<pairs> list(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const auto value = text(name);
      if (value.empty())
        continue;
      if (auto read = read_pairs(value))
        return read;
      warnings_.push_back(std::string{name} +
                          " is no list such as \"key=value,key2=value2\"; it is left out.");
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const auto value = text(name);
      if (value.empty())
        continue;
      std::uint32_t ms = 0;
      const auto* end = value.data() + value.size();
      if (std::from_chars(value.data(), end, ms).ptr == end && ms > 0)
        return std::chrono::milliseconds{ms};
      warnings_.push_back(std::string{name} + " is no number of milliseconds: \"" + value +
                          "\"; it is left out.");
    }
    return std::nullopt;
  }

 private:
  bool enabled_;
  const std::function<const char*(const char* name)>& variable_;
  std::vector<std::string>& warnings_;
};

std::string below(std::string base, std::string_view path) {
  while (base.ends_with('/'))
    base.pop_back();
  return base.append(path);
}

std::optional<otlp_target> target(environment_reader& from, const telemetry_options& options,
                                  std::string_view path, const char* endpoint, const char* headers,
                                  const char* timeout) {
  otlp_target out;
  out.url = from.text(endpoint);
  if (!options.otlp_endpoint.empty())
    out.url = below(options.otlp_endpoint, path);
  else if (const auto base = from.text(otel::env_endpoint); out.url.empty() && !base.empty())
    out.url = below(base, path);
  if (out.url.empty())
    return std::nullopt;
  out.headers = from.list({headers, otel::env_headers}).value_or(pairs{});
  out.timeout = from.duration({timeout, otel::env_timeout}).value_or(out.timeout);
  return out;
}

void set(pairs& attributes, std::string_view key, std::string value) {
  std::erase_if(attributes, [key](const auto& known) { return known.first == key; });
  attributes.emplace_back(key, std::move(value));
}

pairs resource_of(environment_reader& from, const telemetry_options& options) {
  auto out = from.list({otel::env_resource}).value_or(pairs{});
  auto name = options.service_name.empty() ? from.text(otel::env_service_name) : options.service_name;
  const bool named = std::any_of(out.begin(), out.end(),
                                 [](const auto& known) { return known.first == otel::service_name; });
  if (!name.empty() || !named)
    set(out, otel::service_name, name.empty() ? "troupe" : std::move(name));
  set(out, otel::sdk_name, "troupe");
  set(out, otel::sdk_language, "cpp");
  return out;
}

// "true" of the older convention, and the words of the newer one that put content into spans.
bool captures(std::string_view word) {
  return same_word(word, "true") || same_word(word, "span_only") || same_word(word, "span_and_event");
}

} // namespace

telemetry_settings make_telemetry_settings(const telemetry_options& options,
                                           const std::function<const char*(const char* name)>& variable) {
  telemetry_settings out;
  environment_reader from{options, variable, out.warnings};
  if (same_word(from.text(otel::env_disabled), "true"))
    return out;
  out.traces = target(from, options, "/v1/traces", otel::env_traces_endpoint, otel::env_traces_headers,
                      otel::env_traces_timeout);
  out.metrics = target(from, options, "/v1/metrics", otel::env_metrics_endpoint, otel::env_metrics_headers,
                       otel::env_metrics_timeout);
  if (!out.traces && !out.metrics)
    return out;
  out.resource = resource_of(from, options);
  out.capture_content = options.capture_content || captures(from.text(otel::env_capture_content));
  return out;
}

} // namespace troupe
