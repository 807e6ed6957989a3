// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/provider_factory.hpp>
#include <troupe/embed/internal/run_state.hpp>
#include <troupe/embed/internal/runtime_core.hpp>
#include <troupe/embed/internal/value_or_throw.hpp>
#include <troupe/net/fetch/fetch_url.hpp>
#include <troupe/runtime/tools/file_tools.hpp>
#include <troupe/runtime/tools/todo.hpp>

#include <array>
#include <cstdio>
#include <utility>

#include <unistd.h>

namespace troupe {
namespace {

actors::engine_options engine_options(const runtime_options& options, const telemetry_plan& plan,
                                      net::io_pool& io) {
  actors::engine_options e;
  e.lender = options.io_threads_run_agents ? &io : nullptr;
  e.trace_seed = plan.seed;
  e.threads = options.threads;
  e.tool_threads = options.tool_threads;
  e.idle_after = options.idle_after;
  e.max_resident = options.max_resident;
  e.store = options.store;
  return e;
}

model_client_options client_options(const runtime_options& options) {
  return {options.record, options.replay, options.proxy_from_environment};
}

mcp_servers_options mcp_options(const runtime_options& options) {
  return {options.workspace, options.log, options.proxy_from_environment};
}

constexpr std::size_t secret_threads = 2;
constexpr std::uint32_t secret_patience_ms = 1'000; // at the end; a command that still runs is left behind

std::string today() {
  const std::chrono::year_month_day date{
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  std::array<char, 32> text{};
  auto length = std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                              static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return {text.data(), static_cast<std::size_t>(length)};
}

// The word that OpenTelemetry has for a protocol of ours; the service behind it may be another one.
std::string provider_name(const std::string& protocol) {
  if (protocol == "gemini")
    return "gcp.gemini";
  return protocol == "openai_responses" ? "openai" : protocol;
}

// What code declares must be there; of files one that is bad is left out.
void check_remote(const remote_agent_spec& spec, const built_root& built) {
  const auto& delegates = built.profile->delegates;
  if (delegates != nullptr && delegates->agents.contains(spec.name) &&
      delegates->agents.at(spec.name)->is_remote)
    return;
  std::string why =
      "Remote agent '" + spec.name + "' cannot be used: its name is taken or is no name for an agent.";
  for (const auto& skipped : built.skipped)
    if (skipped.find("'" + spec.name + "'") != std::string::npos)
      why = skipped;
  throw config_error{{errc::bad_definition, std::move(why)}};
}

} // namespace

runtime_core::runtime_core(runtime_options options)
    : options_(std::move(options)), plan_(plan_telemetry(options_.telemetry)), io_({options_.io_threads}),
      client_(value_or_throw(make_model_client(io_, client_options(options_)))),
      mcp_(io_, mcp_options(options_)), dispatcher_(std::make_unique<dispatcher>(options_.log)),
      engine_(actors::make_engine(engine_options(options_, plan_, io_))) {
  secrets_ = std::make_shared<worker_threads>(secret_threads);
  remotes_ = std::make_unique<remote_agents>(
      net::a2a_surroundings{client_.http, &io_, secrets_,
                            [this](const std::string& text) { log(log_level::warning, text); }},
      [this](actors::engine_model model) {
        {
          std::lock_guard lock{mutex_};
          traced_.insert_or_assign(model.id, traced_model{"a2a", model.model});
        }
        engine_->add_model(std::move(model));
      });
  add_tools();
  for (const auto& server : options_.mcp_servers)
    sources_.push_back(value_or_throw(mcp_.make(server)));
  add_model({.id = "scenario", .provider = "scenario", .description = "embedded: plays rules, needs no key"});
  for (const auto& spec : options_.models)
    add_model(spec);
  for (const auto& spec : options_.models)
    for (const auto& other : spec.fallbacks)
      if (!descriptions_.contains(other) || other == spec.id)
        throw config_error{{errc::unknown_model, "Model '" + spec.id + "' cannot fall back to '" + other +
                                                     "': there is no other model of that id."}};
  begin_telemetry(std::move(plan_));
}

runtime_core::~runtime_core() {
  telemetry_.reset();
  secrets_->close(secret_patience_ms);
  engine_.reset();
}

void runtime_core::begin_telemetry(telemetry_plan plan) {
  telemetry_ = value_or_throw(runtime_telemetry::make(
      std::move(plan), options_.telemetry, *engine_, [this](const std::string& id) { return traced(id); },
      options_.log));
}

traced_model runtime_core::traced(const std::string& id) {
  std::lock_guard lock{mutex_};
  auto found = traced_.find(id);
  return found == traced_.end() ? traced_model{} : found->second;
}

void runtime_core::close() {
  for (const auto& who : engine_->shutdown(options_.shutdown_timeout, options_.at_shutdown))
    log(log_level::warning, "Still running at shutdown: " + who);
  mcp_.close();
  if (telemetry_)
    telemetry_->stop();
}

void runtime_core::add_tools() {
  tools_.emplace("todo", tools::todo());
  if (!options_.workspace.empty())
    for (auto& tool : value_or_throw(tools::file_tools(options_.workspace)))
      tools_.emplace(tool->name, tool);
  add_tool(value_or_throw(
      net::make_fetch_tool(client_.http, pages_, {.private_hosts = options_.fetch_private_hosts})));
  for (const auto& tool : options_.tools)
    add_tool(tool);
  auto loaded = load_skills(options_.skill_folders);
  for (const auto& issue : loaded.issues)
    log(issue.is_error ? log_level::error : log_level::warning, to_string(issue));
  skills_ = std::move(loaded.skills);
  if (options_.sandbox.backend == sandbox_backend::none)
    return;
  auto sandbox = options_.sandbox;
  if (sandbox.workspace.empty())
    sandbox.workspace = options_.workspace;
  // Commands may change the workspace, and with it skills that lie there: they see copies, and so do agents.
  skill_copies_ = value_or_throw(skill_copies::make(skills_));
  skills_ = skill_copies_->skills();
  for (const auto& issue : skill_copies_->issues())
    log(log_level::error, to_string(issue));
  for (const auto& [name, skill] : skills_)
    sandbox.skills.emplace(name, skill->folder);
  sandbox_ = value_or_throw(net::command_sandbox::open(io_, std::move(sandbox)));
  add_tool(sandbox_->tool());
}

void runtime_core::add_tool(tool_ptr tool) {
  auto name = tool->name;
  if (!tools_.emplace(name, std::move(tool)).second)
    throw config_error{{errc::name_clash, "Two tools are named '" + name + "'."}};
}

void runtime_core::add_model(const model_spec& spec) {
  {
    std::lock_guard lock{mutex_};
    if (descriptions_.contains(spec.id) && spec.id != "scenario")
      throw config_error{{errc::name_clash, "Two models have the id '" + spec.id + "'."}};
  }
  add_model(spec.id, value_or_throw(make_provider(spec, client_.http, io_, client_.conditions)),
            spec.description, spec);
}

void runtime_core::add_model(const std::string& id, std::shared_ptr<model_provider> provider,
                             std::string description, const model_spec& limits) {
  actors::engine_model model;
  model.id = id;
  model.provider = std::move(provider);
  model.model = limits.model.empty() ? id : limits.model;
  traced_model traced{provider_name(limits.provider), model.model};
  model.limits.max_concurrency = limits.max_concurrency;
  model.limits.retries.max_retries = limits.max_retries;
  model.limits.requests_per_minute = limits.requests_per_minute;
  model.limits.tokens_per_minute = limits.tokens_per_minute;
  model.limits.call_timeout = limits.call_timeout;
  model.fallbacks = limits.fallbacks;
  model.price = limits.price;
  model.max_output_tokens = limits.max_output_tokens;
  engine_->add_model(std::move(model));
  std::lock_guard lock{mutex_};
  descriptions_.insert_or_assign(id, std::move(description));
  traced_.insert_or_assign(id, std::move(traced));
}

build_environment runtime_core::environment(const std::vector<std::string>& reserved,
                                            const std::vector<remote_agent_spec>& remotes) {
  build_environment e;
  e.today = today();
  e.sources = sources_;
  e.as_root = ::geteuid() == 0;
  e.make_source = [this](const mcp_server_spec& spec) { return mcp_.maker(spec); };
  {
    std::lock_guard lock{mutex_};
    e.tools = tools_;
    e.models = descriptions_;
    e.skills = skills_;
    e.sandbox = sandbox_ ? sandbox_->tool() : nullptr;
  }
  if (!options_.agents_folder.empty() || !options_.user_agents_folder.empty() || !remotes.empty())
    add_agents(e, reserved, remotes);
  return e;
}

void runtime_core::add_agents(build_environment& e, const std::vector<std::string>& reserved,
                              const std::vector<remote_agent_spec>& remotes) {
  registry_options folders;
  folders.project_folder = options_.agents_folder;
  folders.user_folder = options_.user_agents_folder;
  folders.reserved = reserved;
  for (const auto& spec : remotes)
    folders.code.push_back(to_definition(spec));
  registry agents{std::move(folders)};
  for (const auto& issue : agents.reload().issues)
    log(issue.is_error ? log_level::error : log_level::warning, to_string(issue));
  e.agents = agents.all();
  if (!reserved.empty())
    remotes_->connect(e, options_.remote_card_wait);
}

void runtime_core::add_agent(const agent& made) {
  std::lock_guard lock{mutex_};
  agents_.insert_or_assign(made.profile().name, made);
}

std::optional<agent> runtime_core::find_agent(const std::string& name) {
  std::lock_guard lock{mutex_};
  auto found = agents_.find(name);
  return found == agents_.end() ? std::nullopt : std::optional{found->second};
}

void runtime_core::on_woken_run(const session_id& session,
                                std::function<void(std::shared_ptr<run_feed>)> callback) {
  std::lock_guard lock{mutex_};
  if (callback)
    woken_.insert_or_assign(session, std::move(callback));
  else
    woken_.erase(session);
}

void runtime_core::woken(const session_id& session, std::shared_ptr<run_feed> feed) {
  std::function<void(std::shared_ptr<run_feed>)> callback;
  {
    std::lock_guard lock{mutex_};
    if (auto found = woken_.find(session); found != woken_.end())
      callback = found->second;
  }
  if (callback)
    dispatcher_->post([callback, feed = std::move(feed)] { callback(feed); });
}

std::map<std::string, std::string> runtime_core::models() {
  std::lock_guard lock{mutex_};
  return descriptions_;
}

runtime::runtime(runtime_options options) : core_(std::make_shared<runtime_core>(std::move(options))) {}

runtime::~runtime() {
  core_->close();
}

agent runtime::create_deep_agent(deep_agent spec) {
  const auto known = core_->models();
  for (const auto& model : spec.available_models)
    if (!known.contains(model.id))
      core_->add_model(model);
  root_spec root;
  root.name = std::move(spec.name);
  root.model = std::move(spec.model);
  root.instruction = std::move(spec.instruction);
  root.description = std::move(spec.description);
  root.tools = std::move(spec.tools);
  root.subagents = std::move(spec.subagents);
  root.spawn = std::move(spec.spawn);
  root.thinking = spec.thinking;
  root.temperature = spec.temperature;
  root.output_schema = std::move(spec.output_schema);
  root.skills = std::move(spec.skills);
  root.use_sandbox = spec.use_sandbox;
  root.limits = spec.limits;
  root.compaction = std::move(spec.compaction);
  root.before_and_after = std::move(spec.before_and_after);
  root.mcp_servers = std::move(spec.mcp_servers);
  if (!spec.policy.empty())
    root.rules = std::make_shared<const policy>(value_or_throw(policy::compile(std::move(spec.policy))));
  std::vector<std::string> reserved{root.name};
  for (const auto& child : root.subagents)
    reserved.push_back(child.name);
  auto built = value_or_throw(build_root(root, core_->environment(reserved, spec.remote_agents)));
  for (const auto& remote : spec.remote_agents)
    check_remote(remote, built);
  agent made;
  made.core_ = core_;
  made.profile_ = std::move(built.profile);
  made.limits_ = spec.run;
  made.warnings_ = std::move(built.warnings);
  made.skipped_ = std::move(built.skipped);
  for (const auto& skipped : made.skipped_)
    core_->log(log_level::error, skipped);
  for (const auto& warning : made.warnings_)
    core_->log(log_level::warning, warning);
  core_->add_agent(made);
  return made;
}

session runtime::session(const std::string& id) const {
  return {core_, session_id{id}};
}

run runtime::resume(const std::string& session, run_options options) {
  auto store = core_->to().store();
  auto page = value_or_throw(store->read(session_id{session}, 0, 1));
  if (page.batches.empty())
    throw config_error{{errc::not_found, "There is no session '" + session + "'."}};
  auto branch = page.batches.front()->front().branch();
  const auto name = branch.substr(0, branch.find('.'));
  auto found = core_->find_agent(name);
  if (!found)
    throw config_error{{errc::unknown_agent, "Session '" + session + "' belongs to the agent '" + name +
                                                 "', which this runtime does not have."}};
  options.session = session;
  return found->resume(std::move(options));
}

void runtime::add_model(const std::string& id, std::shared_ptr<model_provider> provider,
                        std::string description) {
  core_->add_model(id, std::move(provider), std::move(description), {});
}

std::map<std::string, std::string> runtime::models() const {
  return core_->models();
}

std::vector<tool_ptr> runtime::tools() const {
  std::vector<tool_ptr> all;
  for (const auto& [name, tool] : core_->environment({}).tools)
    all.push_back(tool);
  return all;
}

std::vector<std::shared_ptr<tool_source>> runtime::tool_sources() const {
  return core_->sources();
}

engine& runtime::engine() noexcept {
  return core_->to();
}

timer& runtime::clock() noexcept {
  return core_->clock();
}

std::vector<std::string> runtime::shutdown(std::chrono::milliseconds limit) {
  return core_->shutdown(limit, shutdown_mode::cancel);
}

run agent::run(std::string prompt, run_options options) const {
  auto message = make_text(role::user, std::move(prompt));
  for (auto& attachment : options.attachments)
    message.parts.push_back(std::move(attachment));
  if (options.session.empty())
    options.session = make_session_id().str();
  return start(std::make_shared<const content>(std::move(message)), std::move(options));
}

run agent::resume(run_options options) const {
  return start(nullptr, std::move(options));
}

run agent::start(content_ptr message, run_options options) const {
  auto core = core_.lock();
  if (core == nullptr)
    throw config_error{{errc::shutting_down, "The runtime of agent '" + profile_->name + "' has ended."}};
  if (!valid_session_id(options.session))
    throw config_error{{errc::bad_config, "The session name '" + options.session +
                                              "' cannot be used: letters, digits and '-_.:', at most 128."}};
  session_id session{std::move(options.session)};
  auto feed = std::make_shared<run_feed>(session, core->to().store());
  run_request request;
  request.session = session;
  request.root = profile_;
  request.message = std::move(message);
  request.limits = limits_;
  request.answerable = options.answerable;
  request.busy = options.busy;
  request.suspend_on_question = options.suspend_on_question;
  request.question_timeout = options.question_timeout;
  request.background = options.background;
  request.user = std::move(options.user);
  request.app = std::move(options.app);
  request.take_over = options.take_over;
  request.answers = std::move(options.answers);
  request.on_woken_run = [weak = core_, session](std::shared_ptr<run_feed> woken) {
    if (auto alive = weak.lock())
      alive->woken(session, std::move(woken));
  };
  core->to().start(std::move(request), feed);
  return troupe::run{std::make_shared<run_state>(core_, session, std::move(feed))};
}

} // namespace troupe
