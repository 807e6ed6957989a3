// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/runtime/json_text.hpp>

#include <array>
#include <utility>

namespace troupe::net::a2a {

using nlohmann::json;

namespace {

// In the order of task_state.
constexpr std::array<std::string_view, 9> kebab_names = {"unknown",   "submitted",      "working",
                                                         "completed", "failed",         "canceled",
                                                         "rejected",  "input-required", "auth-required"};
// In the order of the numbers of a2a.proto.
constexpr std::array numbered = {
    task_state::unknown,        task_state::submitted, task_state::working,
    task_state::completed,      task_state::failed,    task_state::canceled,
    task_state::input_required, task_state::rejected,  task_state::auth_required};

std::string snake(std::string_view camel) {
  std::string out;
  for (const char c : camel) {
    if (c >= 'A' && c <= 'Z')
      out += '_';
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

bool flag(const json& object, std::string_view name) {
  const auto* found = member(object, name);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

// Only objects are kept: that is what metadata is.
json object_member(const json& object, std::string_view name) {
  const auto* found = member(object, name);
  return found != nullptr && found->is_object() ? *found : json{};
}

void put(json& j, const char* key, const std::string& value) {
  if (!value.empty())
    j[key] = value;
}

void put(json& j, const char* key, const json& value) {
  if (!value.is_null())
    j[key] = value;
}

// -- writing -----------------------------------------------------------------------------------------------------------

json write_v1(const part& p) {
  json j = json::object();
  switch (p.kind) {
  case part::form::text:
    j["text"] = p.text;
    break;
  case part::form::data:
    j["data"] = p.data;
    break;
  case part::form::bytes:
    j["raw"] = p.text;
    break;
  case part::form::uri:
    j["url"] = p.text;
    break;
  }
  put(j, "filename", p.name);
  put(j, "mediaType", p.media_type);
  return j;
}

json write_v03(const part& p, bool rest) {
  json j = json::object();
  if (p.kind == part::form::text) {
    j["text"] = p.text;
  } else if (p.kind == part::form::data) {
    // 0.3 has objects only.
    auto data = p.data.is_object() ? p.data : json{{"value", p.data}};
    j["data"] = rest ? json{{"data", std::move(data)}} : std::move(data);
  } else {
    const bool bytes = p.kind == part::form::bytes;
    json file = json::object();
    if (rest)
      file[bytes ? "fileWithBytes" : "fileWithUri"] = p.text;
    else
      file[bytes ? "bytes" : "uri"] = p.text;
    put(file, "name", p.name);
    put(file, "mimeType", p.media_type);
    j["file"] = std::move(file);
  }
  if (!rest)
    j["kind"] = p.kind == part::form::text ? "text" : p.kind == part::form::data ? "data" : "file";
  return j;
}

json write_parts(const std::vector<part>& parts, dialect d) {
  json list = json::array();
  for (const auto& p : parts)
    list.push_back(d == dialect::v1 ? write_v1(p) : write_v03(p, d == dialect::v03_rest));
  return list;
}

json write_status(const task_status& s, dialect d) {
  json j = {{"state", state_name(s.state, d)}};
  if (s.message)
    j["message"] = write(*s.message, d);
  put(j, "timestamp", s.timestamp);
  return j;
}

// The names of the kinds, in the order of stream_item.
constexpr std::array<const char*, 4> wrappers = {"task", "message", "statusUpdate", "artifactUpdate"};
constexpr std::array<const char*, 4> kinds_v03 = {"task", "message", "status-update", "artifact-update"};

json write_bare(const status_update& u, dialect d) {
  json j = {{"taskId", u.task}, {"contextId", u.context}, {"status", write_status(u.status, d)}};
  if (d != dialect::v1)
    j["final"] = is_terminal(u.status.state) || is_interrupted(u.status.state);
  put(j, "metadata", u.metadata);
  return j;
}

json write_bare(const artifact_update& u, dialect d) {
  return {{"taskId", u.task},
          {"contextId", u.context},
          {"artifact", write(u.artifact, d)},
          {"append", u.append},
          {"lastChunk", u.last}};
}

json write_bare(const task& t, dialect d) {
  return write(t, d);
}

json write_bare(const message& m, dialect d) {
  return write(m, d);
}

// -- reading -----------------------------------------------------------------------------------------------------------

std::optional<part> read_file(const json& file) {
  part p;
  p.name = text_member(file, "name");
  p.media_type = text_member(file, "mimeType");
  if (p.media_type.empty())
    p.media_type = text_member(file, "mediaType");
  for (const auto* key : {"uri", "fileWithUri"})
    if (const auto* found = member(file, key); found != nullptr && found->is_string()) {
      p.kind = part::form::uri;
      p.text = found->get<std::string>();
      return p;
    }
  for (const auto* key : {"bytes", "fileWithBytes"})
    if (const auto* found = member(file, key); found != nullptr && found->is_string()) {
      p.kind = part::form::bytes;
      p.text = found->get<std::string>();
      return p;
    }
  return std::nullopt;
}

std::optional<part> read_part(const json& j) {
  if (!j.is_object())
    return std::nullopt;
  if (const auto* file = member(j, "file"); file != nullptr && file->is_object())
    return read_file(*file);
  part p;
  p.name = text_member(j, "filename");
  p.media_type = text_member(j, "mediaType");
  const std::pair<const char*, part::form> texts[] = {
      {"text", part::form::text}, {"raw", part::form::bytes}, {"url", part::form::uri}};
  for (const auto& [key, form] : texts)
    if (const auto* found = member(j, key); found != nullptr && found->is_string()) {
      p.kind = form;
      p.text = found->get<std::string>();
      return p;
    }
  const auto* data = member(j, "data");
  if (data == nullptr)
    return std::nullopt;
  p.kind = part::form::data;
  const bool wrapped =
      data->is_object() && data->size() == 1 && data->contains("data") && !j.contains("kind");
  p.data = wrapped ? (*data)["data"] : *data;
  return p;
}

std::vector<part> read_parts(const json& owner) {
  const auto* list = member(owner, "parts");
  if (list == nullptr)
    list = member(owner, "content");
  std::vector<part> parts;
  if (list != nullptr && list->is_array())
    for (const auto& item : *list)
      if (auto p = read_part(item))
        parts.push_back(std::move(*p));
  return parts;
}

message message_of(const json& j) {
  message m;
  m.id = text_member(j, "messageId");
  m.context = text_member(j, "contextId");
  m.task = text_member(j, "taskId");
  const auto who = text_member(j, "role");
  m.from_agent = who.find("agent") != std::string::npos || who.find("AGENT") != std::string::npos;
  m.parts = read_parts(j);
  m.metadata = object_member(j, "metadata");
  if (const auto* list = member(j, "referenceTaskIds"); list != nullptr && list->is_array())
    for (const auto& id : *list)
      if (id.is_string())
        m.references.push_back(id.get<std::string>());
  return m;
}

artifact artifact_of(const json& j) {
  return {text_member(j, "artifactId"), text_member(j, "name"), text_member(j, "description"), read_parts(j),
          object_member(j, "metadata")};
}

task_status status_of(const json& owner) {
  task_status s;
  const auto* j = member(owner, "status");
  if (j == nullptr || !j->is_object())
    return s;
  if (const auto* state = member(*j, "state"))
    s.state = read_state(*state);
  s.timestamp = text_member(*j, "timestamp");
  const auto* said = member(*j, "message");
  if (said == nullptr)
    said = member(*j, "update");
  if (said != nullptr && said->is_object())
    s.message = message_of(*said);
  return s;
}

status_update status_update_of(const json& j) {
  return {text_member(j, "taskId"), text_member(j, "contextId"), status_of(j), object_member(j, "metadata")};
}

artifact_update artifact_update_of(const json& j) {
  artifact_update u{
      text_member(j, "taskId"), text_member(j, "contextId"), {}, flag(j, "append"), flag(j, "lastChunk")};
  if (const auto* what = member(j, "artifact"); what != nullptr && what->is_object())
    u.artifact = artifact_of(*what);
  return u;
}

std::optional<stream_item> item_of_kind(std::size_t kind, const json& j) {
  switch (kind) {
  case 0:
    return read_task(j);
  case 1:
    return message_of(j);
  case 2:
    return status_update_of(j);
  default:
    return artifact_update_of(j);
  }
}

} // namespace

std::string state_name(task_state s, dialect d) {
  const auto kebab = kebab_names[static_cast<std::size_t>(s)];
  if (d == dialect::v03)
    return std::string{kebab};
  if (s == task_state::unknown)
    return "TASK_STATE_UNSPECIFIED";
  if (s == task_state::canceled && d == dialect::v03_rest)
    return "TASK_STATE_CANCELLED";
  std::string name = "TASK_STATE_";
  for (const char c : kebab)
    name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return name;
}

task_state state_from_name(std::string_view name) noexcept {
  constexpr std::string_view prefix = "TASK_STATE_";
  if (name.starts_with(prefix))
    name.remove_prefix(prefix.size());
  for (std::size_t i = 0; i < kebab_names.size(); ++i) {
    const auto known = kebab_names[i];
    bool same = known.size() == name.size();
    for (std::size_t c = 0; same && c < known.size(); ++c) {
      const char x = name[c] == '_' ? '-' : name[c];
      same = known[c] == (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x);
    }
    if (same)
      return static_cast<task_state>(i);
  }
  return name == "CANCELLED" || name == "cancelled" ? task_state::canceled : task_state::unknown;
}

task_state read_state(const json& value) noexcept {
  if (value.is_string())
    return state_from_name(value.get_ref<const std::string&>());
  if (value.is_number_integer() && value >= 0 && value < numbered.size())
    return numbered[value.get<std::size_t>()];
  return task_state::unknown;
}

const json* member(const json& object, std::string_view camel) {
  if (!object.is_object())
    return nullptr;
  auto found = object.find(camel);
  if (found == object.end())
    found = object.find(snake(camel));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_member(const json& object, std::string_view camel) {
  const auto* found = member(object, camel);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

json write(const message& m, dialect d) {
  json j = {{"messageId", m.id}};
  if (d == dialect::v03)
    j["role"] = m.from_agent ? "agent" : "user";
  else
    j["role"] = m.from_agent ? "ROLE_AGENT" : "ROLE_USER";
  j[d == dialect::v03_rest ? "content" : "parts"] = write_parts(m.parts, d);
  if (d == dialect::v03)
    j["kind"] = "message";
  put(j, "contextId", m.context);
  put(j, "taskId", m.task);
  put(j, "metadata", m.metadata);
  if (!m.references.empty() && d != dialect::v03_rest)
    j["referenceTaskIds"] = m.references;
  if (m.metadata.is_object()) {
    json names = json::array();
    for (const auto* known : {hops_extension, activity_extension})
      if (m.metadata.contains(known))
        names.push_back(known);
    if (!names.empty())
      j["extensions"] = std::move(names);
  }
  return j;
}

json write(const artifact& a, dialect d) {
  json j = {{"artifactId", a.id}, {"parts", write_parts(a.parts, d)}};
  put(j, "name", a.name);
  put(j, "description", a.description);
  put(j, "metadata", a.metadata);
  return j;
}

json write(const task& t, dialect d) {
  json j = {{"id", t.id}, {"contextId", t.context}, {"status", write_status(t.status, d)}};
  if (d == dialect::v03)
    j["kind"] = "task";
  if (!t.artifacts.empty())
    for (const auto& a : t.artifacts)
      j["artifacts"].push_back(write(a, d));
  for (const auto& m : t.history)
    j["history"].push_back(write(m, d));
  put(j, "metadata", t.metadata);
  return j;
}

json write(const stream_item& item, dialect d) {
  auto bare = std::visit([d](const auto& value) { return write_bare(value, d); }, item);
  if (d == dialect::v03) {
    bare["kind"] = kinds_v03[item.index()];
    return bare;
  }
  return {{wrappers[item.index()], std::move(bare)}};
}

result<message> read_message(const json& value) {
  if (!value.is_object())
    return error{errc::bad_arguments, "'message' must be an object."};
  auto m = message_of(value);
  if (m.parts.empty())
    return error{errc::bad_arguments,
                 "'message.parts' must hold at least one part with a text, data or file."};
  return m;
}

task read_task(const json& value) {
  task t;
  t.id = text_member(value, "id");
  t.context = text_member(value, "contextId");
  t.status = status_of(value);
  t.metadata = object_member(value, "metadata");
  if (const auto* list = member(value, "artifacts"); list != nullptr && list->is_array())
    for (const auto& item : *list)
      if (item.is_object())
        t.artifacts.push_back(artifact_of(item));
  if (const auto* list = member(value, "history"); list != nullptr && list->is_array())
    for (const auto& item : *list)
      if (item.is_object())
        t.history.push_back(message_of(item));
  return t;
}

std::optional<stream_item> read_item(const json& value) {
  if (!value.is_object())
    return std::nullopt;
  if (const auto kind = text_member(value, "kind"); !kind.empty()) {
    for (std::size_t i = 0; i < kinds_v03.size(); ++i)
      if (kind == kinds_v03[i])
        return item_of_kind(i, value);
    return std::nullopt;
  }
  for (std::size_t i = 0; i < wrappers.size(); ++i)
    if (const auto* inner = member(value, wrappers[i]); inner != nullptr && inner->is_object())
      return item_of_kind(i, *inner);
  // The name of the field in the definition of 0.3.
  if (const auto* inner = member(value, "msg"); inner != nullptr && inner->is_object())
    return message_of(*inner);
  // A bare value without a kind: answers of GetTask and CancelTask.
  if (value.contains("id") && value.contains("status"))
    return read_task(value);
  return std::nullopt;
}

std::string text_of(const std::vector<part>& parts) {
  std::string text;
  for (const auto& p : parts) {
    switch (p.kind) {
    case part::form::text:
      text += p.text;
      break;
    case part::form::data:
      text += "Data: " + dump_json(p.data);
      break;
    case part::form::uri:
      text += "File: " + (p.name.empty() ? p.text : p.name);
      break;
    case part::form::bytes:
      text += "File: " + (p.name.empty() ? std::string{"(without a name)"} : p.name);
      break;
    }
  }
  return text;
}

} // namespace troupe::net::a2a
