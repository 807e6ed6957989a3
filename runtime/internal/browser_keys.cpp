// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/browser_keys.hpp>
#include <troupe/runtime/internal/key_readers.hpp>

#include <optional>
#include <string_view>

namespace troupe::internal {
namespace {

constexpr std::uint32_t max_count = 1'000'000;

std::optional<browser_session> session_from_string(std::string_view text) {
  if (text == "isolated")
    return browser_session::isolated;
  if (text == "persistent")
    return browser_session::persistent;
  return text == "existing" ? std::optional{browser_session::existing} : std::nullopt;
}

template <auto Member>
constexpr auto count = number<Member, 1U, max_count>;

const yaml_key<browser_options> keys[] = {
    {"command", "text", "npx", "", plain<&browser_options::command>},
    {"args", "list of texts", "", "", plain<&browser_options::args>},
    {"session", "word", "isolated", "",
     [](yaml_reader& r, const yaml_value& in, browser_options& out) {
       r.read_word(in, out.session, session_from_string, "isolated, persistent or existing");
     }},
    {"headless", "bool", "true", "", plain<&browser_options::headless>},
    {"executable", "path", "", "", plain<&browser_options::executable>},
    {"profile", "path", "", "", plain<&browser_options::profile>},
    {"endpoint", "URL", "", "", plain<&browser_options::endpoint>},
    {"allowed_domains", "list of domains", "", "",
     [](yaml_reader& r, const yaml_value& in, browser_options& out) {
       r.read(in, out.allowed_domains);
       if (auto rules = domain_rules::compile(out.allowed_domains); !rules)
         r.error(in, rules.failure().message);
     }},
    {"max_actions", "number", "100", "", count<&browser_options::max_actions>},
    {"max_instances", "number", "5", "", count<&browser_options::max_instances>},
    {"confirm_sensitive", "bool", "true", "", plain<&browser_options::confirm_sensitive>},
    {"confirm_input", "bool", "false", "", plain<&browser_options::confirm_input>},
    {"block_uploads", "bool", "false", "", plain<&browser_options::block_uploads>},
};

} // namespace

void read_browser(yaml_reader& reader, const yaml_value& in, browser_options& out) {
  read_map<browser_options>(reader, in, keys, out);
  if (out.session == browser_session::existing && out.endpoint.empty())
    reader.error(in, "an existing browser needs its DevTools URL: write endpoint.");
}

} // namespace troupe::internal
