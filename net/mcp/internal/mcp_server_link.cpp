// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_results.hpp>
#include <troupe/net/mcp/internal/mcp_server_link.hpp>
#include <troupe/runtime/duration_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net {
namespace {

using nlohmann::json;

mcp_calls_options calls_options(const mcp_link_options& o) {
  return {o.spec.name, o.limits, o.spec.timeout, o.spec.max_call_time, o.root_uri};
}

bool has_name(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool wanted(const mcp_server_spec& spec, std::string_view name) {
  return (spec.include_tools.empty() || has_name(spec.include_tools, name)) &&
         !has_name(spec.exclude_tools, name);
}

json text_argument(const char* name, const char* what, bool required) {
  json schema = {{"type", "object"},
                 {"properties", {{name, {{"type", "string"}, {"description", what}}}}},
                 {"additionalProperties", false}};
  if (required)
    schema["required"] = json::array({name});
  return schema;
}

bool same(const std::vector<tool_ptr>& a, const std::vector<tool_ptr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const tool_ptr& x, const tool_ptr& y) {
    return x->name == y->name && x->description == y->description && x->parameters == y->parameters;
  });
}

} // namespace

mcp_server_link::mcp_server_link(timer& clock, mcp_link_options options)
    : clock_(clock), options_(std::move(options)),
      calls_(std::make_shared<mcp_calls>(clock, calls_options(options_))) {}

void mcp_server_link::post(std::function<void(mcp_server_link&)> task) {
  queue_.run([self = shared_from_this(), task = std::move(task)] { task(*self); });
}

void mcp_server_link::open(mcp_tools_done done) {
  post([done = std::move(done)](mcp_server_link& self) {
    switch (self.state_) {
    case state::closed:
      return done(error{errc::shutting_down, self.title() + " has been closed."});
    case state::paused:
      return done(self.failure_);
    case state::ready:
      if (!self.stale_)
        return done(self.tools_);
      self.waiting_.push_back(done);
      self.state_ = state::listing;
      self.items_.clear();
      self.pages_ = 0;
      self.stale_ = false;
      self.arm_startup();
      return self.list(self.generation_, {});
    case state::starting:
    case state::listing:
      self.waiting_.push_back(done);
      return;
    case state::idle:
      self.waiting_.push_back(done);
      return self.start();
    }
  });
}

void mcp_server_link::start() {
  state_ = state::starting;
  const auto generation = ++generation_;
  const auto here = [weak = weak_from_this()](auto task) {
    if (auto self = weak.lock())
      self->post(std::move(task));
  };
  mcp_connection_options o;
  o.server = options_.spec.name;
  o.self = options_.self;
  o.limits = options_.limits;
  o.spoken = spoken_;
  o.root_uri = options_.root_uri;
  o.log = options_.log;
  o.on_changed = [here, generation] {
    here([generation](mcp_server_link& self) {
      if (generation == self.generation_ && !std::exchange(self.stale_, true))
        ++self.version_;
    });
  };
  o.on_closed = [here, generation](error why) {
    here([generation, why = std::move(why)](mcp_server_link& self) { self.lost(generation, why); });
  };
  if (!startup_)
    arm_startup();
  items_.clear();
  pages_ = 0;
  stale_ = serves_ = worked_ = false;
  connection_ = std::make_shared<mcp_connection>(options_.connect(), clock_, std::move(o));
  connection_->open([here, generation](result<mcp_peer> peer) {
    here([generation, peer = std::move(peer)](mcp_server_link& self) { self.opened(generation, peer); });
  });
}

// The time until all pages of the list have come.
void mcp_server_link::arm_startup() {
  startup_ = clock_.after(options_.spec.startup_timeout, [weak = weak_from_this()] {
    if (auto to = weak.lock())
      to->post([](mcp_server_link& self) {
        self.fail(self.generation_,
                  {errc::timeout, self.title() + " has not told its tools within " +
                                      duration_text(self.options_.spec.startup_timeout) + "."});
      });
  });
}

void mcp_server_link::opened(std::uint64_t generation, result<mcp_peer> peer) {
  if (generation != generation_ || state_ != state::starting)
    return;
  if (!peer) {
    // Old servers may end at a request that they do not know: those are told the older revision's words at once.
    if (spoken_ == mcp_era::unknown && peer.failure().code == errc::connection_lost &&
        !std::exchange(retried_, true)) {
      spoken_ = mcp_era::legacy;
      connection_->close(peer.failure());
      return start();
    }
    return fail(generation, std::move(peer).failure());
  }
  peer_ = *peer;
  spoken_ = peer_.era;
  state_ = state::listing;
  if (peer_.has_tools)
    return list(generation, {});
  listed(generation);
}

void mcp_server_link::list(std::uint64_t generation, std::string cursor) {
  mcp_request request;
  request.method = "tools/list";
  if (!cursor.empty())
    request.params["cursor"] = std::move(cursor);
  request.idle = options_.spec.startup_timeout;
  request.done = [weak = weak_from_this(), generation](mcp_reply reply) {
    if (auto self = weak.lock())
      self->post(
          [generation, reply = std::move(reply)](mcp_server_link& me) { me.take_page(generation, reply); });
  };
  list_id_ = connection_->request(std::move(request));
}

void mcp_server_link::take_page(std::uint64_t generation, mcp_reply reply) {
  if (generation != generation_ || state_ != state::listing)
    return;
  if (const auto* lost_one = std::get_if<error>(&reply))
    return fail(generation, *lost_one);
  if (const auto* refused = std::get_if<rpc_error>(&reply))
    return fail(generation, {errc::protocol, title() + " refused to list its tools: " + describe(*refused)});
  auto page = read_mcp_tool_page(std::get<json>(reply));
  if (!page)
    return fail(generation, {page.failure().code, title() + ": " + page.failure().message});
  std::move(page->tools.begin(), page->tools.end(), std::back_inserter(items_));
  // A list without an end is cut; make_mcp_tools says so.
  if (page->cursor.empty() || ++pages_ >= options_.limits.max_pages ||
      items_.size() > options_.limits.max_tools)
    return listed(generation);
  list(generation, page->cursor);
}

void mcp_server_link::listed(std::uint64_t generation) {
  if (generation != generation_)
    return;
  auto tools = make_tools(make_mcp_tools(items_, options_.spec, options_.limits));
  items_.clear();
  // Agents that have gone on without the server's tools hear of it too.
  const bool is_back = std::exchange(failed_, false);
  if (is_back || (std::exchange(listed_before_, true) && !same(tools, tools_)))
    ++version_;
  tools_ = std::move(tools);
  state_ = state::ready;
  serves_ = true;
  startup_.reset();
  retried_ = false;
  log(log_level::debug, "is ready with " + std::to_string(tools_.size()) + " tools (" + peer_.version + ")");
  tell(tools_);
}

void mcp_server_link::fail(std::uint64_t generation, error why) {
  if (generation != generation_ || (state_ != state::starting && state_ != state::listing))
    return;
  if (serves_)
    return keep_old_list(why);
  if (connection_)
    connection_->close(why);
  pause(why);
}

// Calls may be under way on the connection; the list is read again when the server tells the next change.
void mcp_server_link::keep_old_list(const error& why) {
  log(log_level::warning, why.message + " Its earlier list of tools is kept.");
  connection_->cancel(list_id_, "The list has not come in time.");
  startup_.reset();
  items_.clear();
  state_ = state::ready;
  tell(tools_);
}

void mcp_server_link::worked() {
  if (state_ != state::ready && state_ != state::listing)
    return;
  worked_ = true;
  delay_ = std::chrono::milliseconds{0};
}

void mcp_server_link::lost(std::uint64_t generation, error why) {
  if (generation != generation_ || state_ == state::paused || state_ == state::closed)
    return;
  // While it starts, the answer to what is under way tells.
  if (state_ == state::starting)
    return;
  log(log_level::warning, why.message);
  if (state_ == state::listing && !serves_)
    return pause(why);
  // One that has worked may be started at once by the next call, and any other once.
  if (!worked_ && delay_.count() != 0)
    return pause(why);
  delay_ = options_.limits.restart_delay;
  startup_.reset();
  connection_.reset();
  ++generation_;
  state_ = state::idle;
  if (!waiting_.empty())
    start();
}

void mcp_server_link::pause(const error& why) {
  startup_.reset();
  connection_.reset();
  ++generation_;
  state_ = state::paused;
  failed_ = true;
  retried_ = false;
  spoken_ = peer_.era; // a guess that did not help is forgotten
  delay_ = delay_.count() == 0 ? options_.limits.restart_delay
                               : std::min(delay_ * 2, options_.limits.max_restart_delay);
  failure_ = why;
  if (failure_.message.find(options_.spec.name) == std::string::npos)
    failure_.message = title() + ": " + failure_.message;
  log(log_level::warning, failure_.message + " It is tried again after " + duration_text(delay_) + ".");
  pause_ = clock_.after(delay_, [weak = weak_from_this()] {
    if (auto self = weak.lock())
      self->post([](mcp_server_link& me) {
        if (me.state_ == state::paused)
          me.state_ = state::idle;
      });
  });
  tell(failure_);
}

void mcp_server_link::tell(const result<std::vector<tool_ptr>>& what) {
  for (auto& done : std::exchange(waiting_, {}))
    done(what);
}

void mcp_server_link::close() {
  post([](mcp_server_link& self) {
    if (self.state_ == state::closed)
      return;
    const error why{errc::shutting_down, self.title() + " has been closed."};
    self.state_ = state::closed;
    ++self.generation_;
    self.startup_.reset();
    self.pause_.reset();
    if (auto connection = std::move(self.connection_))
      connection->close(why);
    self.calls_->close();
    self.tell(why);
  });
}

void mcp_server_link::with_connection(ready use) {
  post([use = std::move(use)](mcp_server_link& self) {
    if (self.state_ == state::ready || (self.state_ == state::listing && self.serves_))
      return use(self.connection_);
    self.open([weak = self.weak_from_this(), use](result<std::vector<tool_ptr>> tools) {
      auto me = weak.lock();
      if (me == nullptr || !tools)
        return use(me == nullptr ? error{errc::shutting_down, "The MCP server has been closed."}
                                 : std::move(tools).failure());
      use(me->connection_);
    });
  });
}

void mcp_server_link::call(std::function<mcp_call_request()> request, std::shared_ptr<tool_context> context,
                           std::function<void(tool_result)> done) {
  if (context->answer)
    return calls_->resume(std::move(context), std::move(done));
  auto tell = [weak = weak_from_this(), done = std::move(done)](tool_result r) {
    // Whatever the server has said, it lives.
    if (auto self = weak.lock(); self && (!r.failed || r.failed == errc::tool_failed))
      self->post([](mcp_server_link& me) { me.worked(); });
    done(std::move(r));
  };
  with_connection([calls = calls_, request = std::move(request), context = std::move(context),
                   done = std::move(tell)](result<std::shared_ptr<mcp_connection>> on) {
    if (!on)
      return done(tool_result::failure(on.failure().code, on.failure().message));
    calls->start(*on, request(), context, done);
  });
}

tool_ptr mcp_server_link::bind(std::shared_ptr<const mcp_tool> tool, carry_out use) {
  auto out = std::make_shared<tool_definition>();
  out->name = tool->local;
  out->description = tool->description;
  out->parameters = tool->parameters;
  out->compiled = tool->compiled;
  out->annotations = tool->annotations;
  out->start = [weak = weak_from_this(), use = std::move(use), server = options_.spec.name](
                   std::shared_ptr<const json> arguments, std::shared_ptr<tool_context> context,
                   std::function<void(tool_result)> done) {
    auto self = weak.lock();
    if (self == nullptr)
      return done(tool_result::failure(errc::shutting_down, "MCP server '" + server + "' has been closed."));
    use(*self, std::move(arguments), std::move(context), std::move(done));
  };
  return out;
}

mcp_server_link::carry_out
mcp_server_link::one_request(std::function<mcp_call_request(const json&)> request) {
  return [request = std::move(request)](mcp_server_link& self, std::shared_ptr<const json> arguments,
                                        std::shared_ptr<tool_context> context,
                                        std::function<void(tool_result)> done) {
    self.call([request, arguments = std::move(arguments)] { return request(*arguments); }, std::move(context),
              std::move(done));
  };
}

// After the last page of the resources come the templates of those that are not listed, where the server has some.
void mcp_server_link::list_resources(std::shared_ptr<const json> arguments,
                                     std::shared_ptr<tool_context> context,
                                     std::function<void(tool_result)> done) {
  auto cursor = text_of(*arguments, "cursor");
  const auto templates = [](const std::string& from) {
    return mcp_call_request{"resources/templates/list",
                            from.empty() ? json::object() : json{{"cursor", from}},
                            {},
                            {},
                            read_mcp_template_list};
  };
  if (cursor.starts_with(mcp_template_cursor))
    return call([=, from = cursor.substr(mcp_template_cursor.size())] { return templates(from); },
                std::move(context), std::move(done));
  const auto is_last = std::make_shared<bool>(false);
  auto next = std::make_shared<tool_context>(*context);
  next->answer.reset();
  auto then = [=, weak = weak_from_this()](tool_result list) {
    auto self = weak.lock();
    if (!*is_last || list.failed || self == nullptr)
      return done(std::move(list));
    self->call([templates] { return templates({}); }, next,
               [done, list](const tool_result& more) {
                 auto both = list;
                 if (!more.failed && !more.text.empty())
                   both.text += "\n" + more.text;
                 done(std::move(both));
               });
  };
  call(
      [arguments, is_last] {
        return mcp_call_request{
            "resources/list", *arguments, {}, {}, [is_last](const json& value, const mcp_limits& limits) {
              *is_last = text_of(value, "nextCursor").empty();
              return read_mcp_resource_list(value, limits);
            }};
      },
      std::move(context), std::move(then));
}

std::vector<tool_ptr> mcp_server_link::make_tools(mcp_tool_list list) {
  for (const auto& warning : list.warnings)
    log(log_level::warning, warning);
  std::vector<tool_ptr> out;
  for (auto& item : list.tools) {
    auto tool = std::make_shared<const mcp_tool>(std::move(item));
    out.push_back(bind(tool, one_request([tool](const json& arguments) {
                         return mcp_call_request{"tools/call",
                                                 {{"name", tool->name}, {"arguments", arguments}},
                                                 tool->name,
                                                 mcp_argument_headers(tool->headers, arguments),
                                                 read_mcp_call_result};
                       })));
  }
  if (peer_.has_resources)
    add_resource_tools(out);
  return out;
}

void mcp_server_link::add_resource_tools(std::vector<tool_ptr>& tools) {
  const auto& spec = options_.spec;
  const auto add = [&](const char* name, std::string description, json parameters, carry_out use) {
    auto tool = std::make_shared<mcp_tool>();
    tool->local = mcp_tool_name(spec.name, name);
    tool->description = std::move(description);
    tool->parameters = std::move(parameters);
    tool->annotations.timeout = spec.max_call_time + spec.startup_timeout;
    tool->annotations.read_only = spec.trust;
    const bool taken =
        std::any_of(tools.begin(), tools.end(), [&](const auto& t) { return t->name == tool->local; });
    if (!taken && wanted(spec, name))
      tools.push_back(bind(std::move(tool), std::move(use)));
  };
  add("list_resources",
      "Lists the resources of the MCP server '" + spec.name +
          "': their URIs and what they are, and templates of URIs.",
      text_argument("cursor", "Where to go on, from an earlier list.", false),
      [](mcp_server_link& self, std::shared_ptr<const json> arguments, std::shared_ptr<tool_context> context,
         std::function<void(tool_result)> done) {
        self.list_resources(std::move(arguments), std::move(context), std::move(done));
      });
  add("read_resource", "Reads a resource of the MCP server '" + spec.name + "'.",
      text_argument("uri", "The URI, as a list or a tool gave it, or made after a template.", true),
      one_request([](const json& arguments) {
        return mcp_call_request{"resources/read",
                                {{"uri", text_of(arguments, "uri")}},
                                text_of(arguments, "uri"),
                                {},
                                read_mcp_resource};
      }));
}

void mcp_server_link::log(log_level level, const std::string& what) const {
  if (options_.log)
    options_.log(level, what.find(options_.spec.name) == std::string::npos ? title() + " " + what : what);
}

} // namespace troupe::net
