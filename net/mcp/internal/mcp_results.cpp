// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_protocol.hpp>
#include <troupe/net/mcp/internal/mcp_results.hpp>
#include <troupe/runtime/base64.hpp>
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_shown_uri = 2'048;
constexpr std::size_t max_question_bytes = 8 * 1024;

bool is_media_type(std::string_view text) {
  const auto slash = text.find('/');
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '+' || c == '-' || c == '/' || c == '_';
  };
  return text.size() <= 100 && slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find('/', slash + 1) == std::string_view::npos && std::all_of(text.begin(), text.end(), fits);
}

// Puts a result together within its bounds.
class result_text {
 public:
  explicit result_text(const mcp_limits& limits) : limits_(limits) {}

  void line(std::string_view text) {
    if (!first_)
      out_.text += '\n';
    first_ = false;
    // What is beyond the bound is only counted, by the cut at the end.
    out_.text += text;
  }

  void bytes(const json& block, std::string_view what, std::string_view member) {
    const auto mime = text_of(block, "mimeType");
    auto base64 = text_of(block, member);
    const auto note = [&](std::string_view more) {
      line("[" + std::string{what} + (is_media_type(mime) ? " " + mime : "") + std::string{more} + "]");
    };
    if (!is_media_type(mime))
      return note(", left out: it has no usable media type");
    if (base64.empty() || !decode_base64(base64))
      return note(", left out: its data are not base64");
    if (data_bytes_ + base64.size() > limits_.max_result_data_bytes)
      return note(", left out: more than " + std::to_string(limits_.max_result_data_bytes) +
                  " bytes of data");
    data_bytes_ += base64.size();
    note("");
    out_.data.push_back({mime, std::move(base64), {}});
  }

  void resource(const json& contents) {
    const auto uri = cut_text(text_of(contents, "uri"), max_shown_uri);
    if (const auto& text = member_of(contents, "text"); text.is_string()) {
      line("[resource " + uri + "]");
      line(text.get_ref<const std::string&>());
    } else if (member_of(contents, "blob").is_string()) {
      bytes(contents, "resource " + uri, "blob");
    } else {
      line("[resource " + uri + " without contents]");
    }
  }

  [[nodiscard]] tool_result take() {
    out_.text = cut_text(out_.text, limits_.max_result_bytes);
    return std::move(out_);
  }

 private:
  const mcp_limits& limits_;
  tool_result out_;
  std::size_t data_bytes_ = 0;
  bool first_ = true;
};

void add_link(result_text& out, const json& block, bool is_template = false) {
  const auto uri = text_of(block, is_template ? "uriTemplate" : "uri");
  auto text = (is_template ? "[resource template " : "[resource ") + cut_text(uri, max_shown_uri);
  for (const char* key : {"name", "mimeType", "description"})
    if (auto more = text_of(block, key); !more.empty())
      text += std::string{key == std::string_view{"name"} ? ": " : ", "} + cut_text(more, 1024);
  out.line(text + "]");
}

void add_block(result_text& out, const json& block) {
  const auto type = text_of(block, "type");
  if (type == "text")
    out.line(text_of(block, "text"));
  else if (type == "image" || type == "audio")
    out.bytes(block, type, "data");
  else if (type == "resource_link")
    add_link(out, block);
  else if (type == "resource")
    out.resource(member_of(block, "resource"));
  else
    out.line("[content of the unknown kind \"" + cut_text(type, 40) + "\" is left out]");
}

// True when one of the texts is the same JSON.
bool says(const json& content, const json& structured) {
  if (!content.is_array())
    return false;
  return std::any_of(content.begin(), content.end(), [&](const json& block) {
    if (text_of(block, "type") != "text")
      return false;
    auto parsed = parse_json(text_of(block, "text"));
    return parsed && *parsed == structured;
  });
}

tool_result no_list(const std::string& name) {
  return tool_result::failure(errc::protocol, "The MCP server's answer has no list `" + name + "`.");
}

// A page of a list of resources or of templates, and the cursor of the next.
tool_result read_links(const json& value, const std::string& name, const mcp_limits& limits, bool templates) {
  const auto& links = member_of(value, name);
  if (!links.is_array())
    return no_list(name);
  result_text out{limits};
  for (const auto& one : links)
    add_link(out, one, templates);
  if (links.empty() && !templates)
    out.line("There are no resources.");
  if (const auto cursor = text_of(value, "nextCursor"); !cursor.empty())
    out.line("More with cursor: " + std::string{templates ? mcp_template_cursor : ""} +
             cut_text(cursor, 1024));
  return out.take();
}

} // namespace

tool_result read_mcp_call_result(const json& value, const mcp_limits& limits) {
  result_text out{limits};
  const auto& content = member_of(value, "content");
  const auto& structured = member_of(value, "structuredContent");
  if (content.is_array())
    for (const auto& block : content)
      add_block(out, block);
  if (!structured.is_null() && !says(content, structured))
    out.line(dump_json(structured));
  if (!content.is_array() && structured.is_null())
    return tool_result::failure(errc::protocol, "The MCP server's answer to the call has no content.");
  auto made = out.take();
  if (flag_of(value, "isError", false)) {
    made.failed = errc::tool_failed;
    if (made.text.empty())
      made.text = "The tool failed and did not say why.";
  }
  return made;
}

tool_result read_mcp_resource(const json& value, const mcp_limits& limits) {
  const auto& contents = member_of(value, "contents");
  if (!contents.is_array())
    return no_list("contents");
  result_text out{limits};
  for (const auto& one : contents)
    out.resource(one);
  return out.take();
}

tool_result read_mcp_resource_list(const json& value, const mcp_limits& limits) {
  return read_links(value, "resources", limits, false);
}

tool_result read_mcp_template_list(const json& value, const mcp_limits& limits) {
  return read_links(value, "resourceTemplates", limits, true);
}

std::optional<result<mcp_input_round>> read_mcp_input_round(const json& value, const mcp_limits& limits) {
  const auto kind = text_of(value, "resultType");
  if (kind.empty() || kind == "complete")
    return std::nullopt;
  if (kind != "input_required")
    return error{errc::protocol, "The MCP server gave a result of the kind \"" + cut_text(kind, 40) +
                                     "\", which is not spoken here."};
  mcp_input_round round;
  if (const auto& state = member_of(value, "requestState"); state.is_string())
    round.state = state.get<std::string>();
  const auto& requests = member_of(value, "inputRequests");
  if (requests.is_object()) {
    if (requests.size() > limits.max_input_rounds)
      return error{errc::protocol, "The MCP server asks more than " +
                                       std::to_string(limits.max_input_rounds) + " questions at once."};
    for (const auto& [key, request] : requests.items())
      round.requests.push_back({key, text_of(request, "method"), member_of(request, "params")});
  }
  if (round.requests.empty() && !round.state)
    return error{errc::protocol, "The MCP server wants input and does not say which."};
  return round;
}

result<tool_question> read_mcp_elicitation(const json& params, const mcp_limits& limits) {
  if (const auto mode = text_of(params, "mode"); !mode.empty() && mode != "form")
    return error{errc::protocol, "Only forms are asked here, not the mode \"" + cut_text(mode, 40) + "\"."};
  const auto& schema = member_of(params, "requestedSchema");
  if (!schema.is_object() || dump_json(schema).size() > limits.max_schema_bytes)
    return error{errc::protocol, "The question has no requestedSchema that can be used."};
  if (auto compiled = json_schema::compile(schema); !compiled)
    return error{errc::protocol, "The requestedSchema cannot be used: " + compiled.failure().message};
  auto message = cut_text(text_of(params, "message"), max_question_bytes);
  if (message.empty())
    message = "The MCP server asks for input.";
  return tool_question{std::move(message), schema};
}

json mcp_elicitation_answer(const tool_answer& answer, const json& schema) {
  if (!answer.value)
    return {{"action", "decline"}};
  if (answer.value->is_object())
    return {{"action", "accept"}, {"content", *answer.value}};
  // A form with one field may be answered with the value of that.
  const auto& fields = member_of(schema, "properties");
  if (fields.is_object() && fields.size() == 1)
    return {{"action", "accept"}, {"content", {{fields.begin().key(), *answer.value}}}};
  return {{"action", "decline"}};
}

tool_result mcp_call_failure(const rpc_error& error, std::string_view server) {
  const auto code = error.code == rpc_code::invalid_params ? errc::bad_arguments : errc::tool_failed;
  return tool_result::failure(code, "MCP server '" + std::string{server} +
                                        "' refused the call: " + describe(error));
}

} // namespace troupe::net
