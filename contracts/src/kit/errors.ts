/**
 * Every named error with its status and its default sentence. Domain code names the error; only this table knows the
 * status.
 */
export const errorCatalogue = {
  // 400
  malformed_request: [400, 'This is not a valid HTTP request.'],
  invalid_cron_expression: [400, 'The cron expression is not valid.'],
  invalid_timezone: [400, 'The timezone is not a known IANA zone.'],
  invalid_recipient: [400, 'The delivery address is not an e-mail address.'],
  schedule_timeout_exceeds_agent_cap: [400, "The timeout is above the agent's execution timeout."],
  agent_timeout_below_active_schedules: [400, 'Active schedules have a longer timeout than this.'],
  loop_timeout_exceeds_agent_cap: [400, "The timeout per run is above the agent's execution timeout."],
  loop_deadline_below_run_timeout: [
    400,
    'max_duration_seconds is below the timeout_per_run of the same request.',
  ],
  unknown_scope: [400, 'There is no such key scope.'],
  scope_not_requestable: [400, 'Keys of this scope cannot be created here.'],
  invalid_skill_source: [400, 'The skill source is not valid.'],
  sync_failed: [400, 'The sync failed.'],
  template_unresolvable: [400, 'The template cannot be resolved.'],
  weak_password: [400, 'The password must have 12 to 128 characters.'],
  password_mismatch: [400, 'The two passwords differ.'],
  self_share: [400, 'An agent cannot be shared with its owner.'],
  credential_path_refused: [400, 'This path is not a credential file.'],
  invalid_mcp_json: [400, 'The file .mcp.json is not valid.'],
  bundle_missing: [400, 'There is no credential bundle to import.'],
  bundle_corrupt: [400, 'The credential bundle cannot be read.'],
  email_not_required: [400, 'This link does not require an e-mail address.'],
  invalid_payment: [400, 'The payment proof cannot be read.'],
  // 401, 402
  not_authenticated: [401, 'A bearer token is required.'],
  invalid_token: [401, 'The token is not valid.'],
  run_key_ended: [401, 'The run of this key has ended.'],
  invalid_credentials: [401, 'User name or password is wrong.'],
  setup_required: [401, 'The platform has no admin yet: set the admin password first.'],
  invalid_code: [401, 'The code is wrong or has expired.'],
  challenge_expired: [401, 'The sign-in took too long: start it again.'],
  invalid_signature: [401, 'The signature is missing or wrong.'],
  session_expired: [401, 'The session has expired.'],
  sign_in_required: [401, 'Sign in to view this.'],
  access_recheck_failed: [401, 'This address no longer has access.'],
  payment_required: [402, 'This call has a price.'],
  payment_failed: [402, 'The payment was not accepted.'],
  cap_reached: [402, 'The spend cap is reached.'],
  // 403
  mfa_required: [403, 'mfa_required'],
  admin_required: [403, 'Only an admin may do this.'],
  principal_not_allowed: [403, 'The person that this run works for may not do this.'],
  owner_required: [403, "Only the agent's owner or an admin may do this."],
  workspace_read_only: [403, 'The agent is shared with you for reading: you cannot change its files.'],
  human_only: [403, 'Only a signed-in person may do this; API keys are refused.'],
  person_required: [403, 'Only a signed-in person or a user key may do this.'],
  agent_identity_required: [403, "Only the agent's own key may do this."],
  scope_not_allowed: [403, "The key's scope does not allow this route."],
  role_required: [403, 'Your role does not allow this.'],
  agent_quota_exceeded: [403, 'You have reached your agent limit.'],
  agent_access_denied: [403, 'You have no access to this agent.'],
  agent_not_permitted: [403, 'This agent has no permission to call that one.'],
  inter_agent_depth_exceeded: [403, 'The chain of agents calling agents is too long.'],
  system_agent_protected: [403, 'The system agent cannot be changed this way.'],
  setup_completed: [403, 'The platform is set up already.'],
  access_requests_disabled: [403, 'Access requests are switched off.'],
  email_login_disabled: [403, 'Signing in by e-mail is switched off.'],
  account_suspended: [403, 'This account is suspended.'],
  delivery_target_requires_owner: [403, 'Only the owner may name another person as recipient.'],
  entitlement_required: [403, 'This installation is not entitled to this feature.'],
  ssh_disabled: [403, 'SSH access is switched off.'],
  protected_path: [403, 'This path is protected.'],
  foreign_request: [403, 'This address serves no browsers and no other host names.'],
  own_role: [403, 'You cannot change your own role or suspend yourself.'],
  // 404
  agent_not_found: [404, 'There is no such agent.'],
  schedule_not_found: [404, 'There is no such schedule.'],
  execution_not_found: [404, 'There is no such execution.'],
  session_not_found: [404, 'There is no such session.'],
  loop_not_found: [404, 'There is no such loop.'],
  skill_not_found: [404, 'There is no such skill.'],
  source_not_found: [404, 'There is no such skill source.'],
  key_not_found: [404, 'There is no such key.'],
  webhook_not_found: [404, 'There is no such webhook.'],
  link_not_found: [404, 'There is no such link.'],
  canvas_not_found: [404, 'There is no such canvas.'],
  file_not_found: [404, 'There is no such file.'],
  record_not_found: [404, 'There is no such record in the history.'],
  template_not_found: [404, 'There is no such template.'],
  setting_not_found: [404, 'There is no such setting.'],
  git_not_configured: [404, 'This agent is not bound to a git repository.'],
  feature_disabled: [404, 'This feature is switched off.'],
  not_found: [404, 'There is nothing here.'],
  method_not_allowed: [405, 'This path does not support the method.'],
  request_timeout: [408, 'The request did not arrive completely in time.'],
  // 409, 413
  agent_exists: [409, 'An agent with this name already exists.'],
  agent_stopped: [409, 'The agent is not running.'],
  created_resource_gone: [409, 'The resource that this idempotency key created no longer exists.'],
  request_in_progress: [409, 'A request with this idempotency key is still running.'],
  turn_in_progress: [409, 'A turn is already running in this conversation.'],
  injection_in_progress: [409, 'Another injection is running for this agent.'],
  already_shared: [409, 'The agent is already shared with this address.'],
  already_exists: [409, 'This already exists.'],
  already_finished: [409, 'This has already ended.'],
  secret_without_token: [409, 'There is no webhook token to sign for.'],
  item_not_pending: [409, 'This item is no longer pending.'],
  item_diverged: [409, 'This item has changed in the meantime.'],
  sync_in_progress: [409, 'A sync is already running.'],
  fleet_restart_in_progress: [409, 'A fleet restart is already running.'],
  git_conflict: [409, 'Git reports a conflict.'],
  restore_begun: [409, 'The restore has begun, so it cannot be cancelled any more.'],
  agent_busy: [409, 'The agent is busy.'],
  disk_quota_reached: [409, "The agent's disk quota is used up: delete files or raise the quota."],
  backups_unavailable: [409, 'The platform cannot back up on its container engine.'],
  backup_not_configured: [409, 'The repository or its passphrase is not set.'],
  backup_in_progress: [409, 'A backup, restore or verification is already running.'],
  window_changed: [409, 'The stored window has changed.'],
  stale_value: [409, 'The value has changed in the meantime.'],
  upload_expired: [409, 'The earlier parts of this upload are no longer stored: start it again.'],
  agent_program_outdated: [409, 'The program in the container is too old for this: restart the agent.'],
  conflict: [409, 'This conflicts with the current state.'],
  body_too_large: [413, 'The body is too large.'],
  attachment_too_large: [413, 'An attachment is too large.'],
  file_too_large: [413, 'The file is too large.'],
  unsupported_media_type: [415, 'This route does not accept the content type.'],
  range_not_satisfiable: [416, 'The requested range is outside the file.'],
  // 422
  validation_error: [422, 'The request is not valid.'],
  invalid_json: [422, 'The body is not valid JSON.'],
  invalid_archive: [422, 'This is not a complete archive of an agent.'],
  archive_passphrase_wrong: [422, 'The passphrase of the archive is wrong or missing.'],
  invalid_model: [422, 'This is not a model id.'],
  attachment_rejected: [422, 'An attachment was refused.'],
  reserved_agent_name: [422, 'This name is reserved.'],
  invalid_skill_name: [422, 'This is not a skill name.'],
  invalid_event_type: [422, 'This is not an event type.'],
  reserved_event_type: [422, 'This event type is reserved.'],
  secret_setting_key: [422, 'Secrets cannot be stored as plain settings.'],
  dedicated_setting_key: [422, 'This setting has a route of its own.'],
  invalid_ops_value: [422, 'A value is invalid; nothing was changed.'],
  unknown_filter: [422, 'This filter value does not exist.'],
  option_not_offered: [422, 'This option is not available.'],
  // 429
  rate_limited: [429, 'Too many requests.'],
  queue_full: [429, 'Too many executions are waiting for this agent.'],
  provider_rate_limited: [429, 'The model provider rejected the request because of its rate limit.'],
  daily_cap_reached: [429, 'The daily cap is reached.'],
  too_many_attempts: [429, 'Too many failed attempts.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  // 5xx
  internal_error: [500, 'Something went wrong on our side.'],
  container_engine_error: [500, 'The container engine failed.'],
  upstream_error: [502, 'A service we depend on failed.'],
  agent_not_running: [503, 'The agent is not running.'],
  run_failed: [503, 'The run failed.'],
  circuit_open: [503, 'The circuit breaker of this agent is open.'],
  scheduler_unavailable: [503, 'The scheduler cannot be reached.'],
  ephemeral_unavailable: [503, 'The store for short-lived data cannot be reached.'],
  store_unavailable: [503, 'The database cannot be reached.'],
  starting_up: [503, 'The platform is starting.'],
  stopping: [503, 'The platform is stopping.'],
  migrations_incomplete: [503, 'The database schema is not complete yet.'],
  mcp_unavailable: [503, 'The MCP server is not running; it restarts automatically.'],
  not_configured: [503, 'This is not configured.'],
  run_timeout: [504, 'The run took longer than allowed.'],
  sync_wait_exceeded: [504, 'The run is still in progress; poll its execution.'],
  scheduler_timeout: [504, 'The scheduler did not answer in time.'],
  agent_unresponsive: [504, 'The agent did not answer in time.'],
  store_full: [507, 'The disk of the database is full: nothing can be written.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

export type ErrorCode = keyof typeof errorCatalogue

export function statusOf(code: ErrorCode): number {
  return errorCatalogue[code][0]
}

export function sentenceOf(code: ErrorCode): string {
  return errorCatalogue[code][1]
}

/** Path of the page about an error, which the platform itself serves. */
export function errorHelpPath(code: ErrorCode): string {
  return `/help/errors/${code}`
}

/**
 * The body of every error reply; some have further top-level fields. Only a refusal by the client itself has no
 * `request_id`: no request was sent.
 */
export type ErrorBody = {
  detail: string | ValidationIssue[]
  error: ErrorCode
  request_id?: string
  /** Path of a page about this error, on the same host. */
  docs_url?: string
  [field: string]: unknown
}
export type ValidationIssue = { loc: (string | number)[]; msg: string; type: string }
