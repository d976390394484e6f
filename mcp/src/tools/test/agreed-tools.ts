/**
 * The agreed tools of the MCP server, written by hand; a test reports every difference. Each line is
 * `name(parameters) mark`. `?` marks an optional parameter, `=` a default, `≤` a maximum. Marks: `P` people only,
 * `A` agents only, `C` also connector keys; without a mark: people and agents.
 */
export const agreedTools = `
list_agents()
get_agent(name)
get_agent_info(name)
create_agent(name, type?, template?, runtime?, runtime_model?, resources?, custom_instructions?, github_repo?, ephemeral?) P
fork_agent(agent_name, name, record_id?, execution_id?, side?, with_schedules?, with_credentials?, runtime?, runtime_model?) P
rename_agent(name, new_name) P
start_agent(name) P
stop_agent(name) P
delete_agent(name) P
get_agent_logs(agent_name, lines=100)
get_agent_ssh_access(agent_name, ttl_hours=4, public_key?) P
list_templates()
get_agent_requirements()

get_fleet_health()
get_agent_health(agent_name)
trigger_health_check(agent_name) P
get_agent_activity_summary(agent_name?, hours=24≤168)

get_credential_status(name)
inject_credentials(name, files?, files_b64?) P
export_credentials(name) P
import_credentials(name) P

list_tags()
get_agent_tags(agent_name)
tag_agent(agent_name, tag)
untag_agent(agent_name, tag)
set_agent_tags(agent_name, tags)

chat_with_agent(agent_name, message, parallel=false, async=false, model?, allowed_tools?, system_prompt?, timeout_seconds?, max_turns?, session_id?, inject_result?, idempotency_key?)
get_chat_history(agent_name, limit=50)
fan_out(agent_name, tasks, max_concurrency?, timeout_seconds?, model?, system_prompt?, allowed_tools?, async_mode?, idempotency_key?)
get_fan_out_result(agent_name, fan_out_id)
start_attempts(agent_name, messages, variants?, repeats?, max_cost_usd?, check?, check_timeout_seconds?, pick?, timeout_seconds?, allowed_tools?) P
list_attempts(agent_name, limit?, offset?) P
get_attempts(agent_name, attempt_set_id) P
keep_attempt(agent_name, attempt_set_id, attempt, on_conflict?, when_busy?) P
discard_attempts(agent_name, attempt_set_id) P

list_recent_executions(agent_name, limit=20≤100, status?)
get_execution_result(agent_name, execution_id, include_log=false)
terminate_execution(agent_name, execution_id)

run_agent_loop(agent_name?, message, max_runs, stop_signal?, delay_seconds?, timeout_per_run?, max_duration_seconds?, max_cost_usd?, no_progress_threshold?, on_failure?, max_consecutive_failures?, model?, allowed_tools?)
get_loop_status(loop_id)
stop_loop(loop_id)

list_agent_schedules(agent_name)
create_agent_schedule(agent_name, name, cron_expression, message, timezone=UTC, description?, enabled=true, timeout_seconds?, allowed_tools?, model?, max_retries=1, retry_delay_seconds=60, validation_enabled?, validation_prompt?, validation_timeout_seconds?, deliver_to_workspace_email?)
update_agent_schedule(agent_name, schedule_id, name?, cron_expression?, message?, timezone?, description?, enabled?, timeout_seconds?, allowed_tools?, model?, max_retries?, retry_delay_seconds?, validation_enabled?, validation_prompt?, validation_timeout_seconds?, deliver_to_workspace_email?)
get_agent_schedule(agent_name, schedule_id)
delete_agent_schedule(agent_name, schedule_id)
trigger_agent_schedule(agent_name, schedule_id)
toggle_agent_schedule(agent_name, schedule_id, enabled)
get_schedule_executions(agent_name, schedule_id?, limit=20)

list_skills()
get_skill(name)
get_skills_library_status()
assign_skill_to_agent(skill_name, agent_name) P
set_agent_skills(agent_name, skill_names) P
sync_agent_skills(agent_name) P
get_agent_skills(agent_name)
list_runnable_skills()
run_skill(skill_name, input?)

set_reminder(message, fire_at?, delay_seconds?, model?, timeout_seconds?, allowed_tools?) A
list_reminders(status?) A
cancel_reminder(reminder_id) A

emit_event(event_type, payload?)
subscribe_to_event(event_type, target_message, source_agent?, enabled?) A
list_event_subscriptions(agent_name?)
delete_event_subscription(subscription_id)

list_operator_queue(agent_name?, status?, type?, priority?, since?, limit=100, offset?)
get_operator_queue_item(item_id)
respond_to_operator_queue(item_id, response, response_text?) P
ask_operator(request_id, title, question?, type?, priority?, options?, context?, proposal?, to_email?, expires_at?) A
get_my_ask(request_id) A

send_notification(notification_type, title, message?, priority?, category?, metadata?) A
report(report_type, title, payload, display_hint?, period_start?, period_end?, audience?, execution_id?) A
list_reports(agent_name?, report_type?, limit?)
get_report(report_id)
call_user(to_number, context?, dedup_label?) A

set_canvas(canvas_id?, title?, blocks, audience?, template?, execution_id?) A
patch_canvas(canvas_id?, blocks) A
get_canvas(canvas_id?) A
list_canvases() A
clear_canvas(canvas_id?) A

list_run_changes(execution_id, limit?, offset?)
get_run_diff(execution_id, path, from?)
list_history(agent_name, before?, limit?)
list_files_at_record(agent_name, record_id, path?, limit?, offset?)
get_file_at_record(agent_name, record_id, path)

get_git_status(agent_name)
get_git_sync_state(agent_name)
get_git_log(agent_name, limit=10)
git_sync(agent_name, message?, paths?, strategy?)
git_pull(agent_name, strategy?)
reset_to_main_preserve_state(agent_name)
initialize_github_sync(agent_name, repo_owner, repo_name, create_repo?, private?, description?) P

list_subscriptions() P
assign_subscription(agent_name, subscription_name) P
clear_agent_subscription(agent_name) P
get_agent_auth(agent_name)
get_paid_chat(agent_name) P
configure_paid_chat(agent_name, enabled, price_usd, pay_to, network, asset?, description?) P
list_payments(agent_name, limit?) P

list_playbooks(agent?) C
run_playbook(name, input?, agent?) C
ask(message, agent?) C
`

/** Optional parameters added since the agreement, which allows additions but no removals. */
export const addedParameters: Readonly<Record<string, readonly string[]>> = {
  list_agents: ['tags'],
  create_agent: ['source_branch', 'label', 'tags'],
  inject_credentials: ['hosts'],
  list_recent_executions: ['offset', 'triggered_by', 'error'],
  create_agent_schedule: ['misfire_policy', 'undo_failed'],
  update_agent_schedule: ['misfire_policy', 'undo_failed'],
  get_schedule_executions: ['offset', 'include'],
  sync_agent_skills: ['force'],
  list_reminders: ['limit'],
  list_event_subscriptions: ['direction', 'limit'],
  list_operator_queue: ['order'],
  list_reports: ['offset'],
  call_user: ['process_transcript'],
  patch_canvas: ['execution_id'],
  run_playbook: ['timeout_seconds'],
}

/** Agreed tools that the server does not have, with the reason. Remove a line when you add its tool. */
export const missingTools: Record<string, string> = {}

export type AgreedParameter = { isOptional: boolean; default?: unknown; maximum?: unknown }
export type AgreedTool = { mark: string; parameters: Record<string, AgreedParameter> }

export function readAgreed(text: string): Map<string, AgreedTool> {
  const lines = text.split('\n').filter(Boolean)
  const tools = new Map(lines.map(readTool))
  if (tools.size !== lines.length) throw new Error('A tool is listed twice.')
  return tools
}

function readTool(line: string): [string, AgreedTool] {
  const [, name, parameters, mark] = /^(\w+)\((.*)\)(?: ([PAC]))?$/.exec(line) ?? []
  if (name === undefined || parameters === undefined) throw new Error(`Not a tool: ${line}`)
  const read = parameters.split(', ').filter(Boolean).map(readParameter)
  return [name, { mark: mark ?? '', parameters: Object.fromEntries(read) }]
}

function readParameter(text: string): [string, AgreedParameter] {
  const [, name, optional, fallback, maximum] = /^(\w+)(\?)?(?:=([^≤]+))?(?:≤(\d+))?$/.exec(text) ?? []
  if (name === undefined) throw new Error(`Not a parameter: ${text}`)
  return [
    name,
    {
      isOptional: optional !== undefined || fallback !== undefined,
      ...(fallback === undefined ? {} : { default: defaultOf(fallback) }),
      ...(maximum === undefined ? {} : { maximum: Number(maximum) }),
    },
  ]
}

function defaultOf(text: string): unknown {
  return /^(true|false|\d+)$/.test(text) ? JSON.parse(text) : text
}
