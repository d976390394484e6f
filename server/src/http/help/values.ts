/** Help for values, limits and failures of the platform: cause and remedy. */
export const valuesHelp = {
  validation_error: [
    'One or more fields are missing, unknown or out of range. The detail lists each with its place and rule.',
    'Correct the listed fields. The API page shows all fields.',
  ],
  invalid_json: [
    'The body is not complete JSON in UTF-8.',
    'Check quotes, commas and the end of the body. Send what a JSON library writes.',
  ],
  invalid_model: [
    'The name does not have the form of a model id. Ids have no spaces.',
    'Use a model of the runtime, or leave the field empty for the default.',
  ],
  invalid_archive: [
    'The archive is incomplete, was changed, or contains a file or setting that an import does not accept.',
    'Read the detail, which names the file or field. Export the agent again.',
  ],
  archive_passphrase_wrong: [
    'The archive is encrypted, and the passphrase is missing or does not open it.',
    'Repeat the import with the passphrase of the export.',
  ],
  attachment_rejected: [
    'An attachment has a type, name or content that cannot be given to an agent.',
    'Read the detail, and remove or convert that file.',
  ],
  reserved_agent_name: ['The platform or its routes use the name.', 'Choose another name.'],
  invalid_skill_name: ['Names of skills have lower-case letters, digits and hyphens.', 'Correct the name.'],
  invalid_event_type: [
    'Types of events are words of lower-case letters, digits and underscores, separated by dots.',
    'Correct the type.',
  ],
  reserved_event_type: [
    'Only the platform sends events of this type.',
    'Choose a type of your own, with a prefix.',
  ],
  secret_setting_key: [
    'A plain setting is readable by all admins and is not encrypted, so secrets are refused.',
    'Use the page for provider keys, or the credentials of an agent.',
  ],
  dedicated_setting_key: [
    'The setting is checked by a route of its own.',
    'Use the route that the detail names.',
  ],
  invalid_ops_value: [
    'At least one value is of the wrong type or out of range. The body names it. Nothing was changed.',
    'Correct the value and send the request again.',
  ],
  unknown_filter: ['The filter has a closed list of values.', 'Choose a value that the detail lists.'],
  option_not_offered: ['The answer is not among the options of the question.', 'Choose one of its options.'],
  rate_limited: [
    'You or your address sent more requests than allowed in this time.',
    'Wait as long as the header Retry-After says. Send fewer requests at a time.',
  ],
  queue_full: [
    'As many runs wait for this agent as its queue can hold.',
    'Wait, raise the number of parallel tasks, or spread the work over more agents.',
  ],
  provider_rate_limited: [
    'The model provider accepts no more requests with this key for now.',
    'Wait as long as the provider says, or use another provider subscription.',
  ],
  daily_cap_reached: [
    'The public link, the visitor or the feature has used up its number for today.',
    'Try again tomorrow, or ask the owner for a higher cap.',
  ],
  too_many_attempts: [
    'Too many wrong passwords or codes came from this place or for this account.',
    'Wait as long as the header Retry-After says. Known devices of the account are not affected.',
  ],
  headers_too_large: [
    'The headers together exceed 16 KiB, often because of cookies.',
    'Delete the cookies of this site, or send fewer headers.',
  ],
  internal_error: [
    'The platform failed in a way that nobody expected. Its log has the reason under the request id.',
    'Report the request id to the operator, who finds it in logs/api.log. Repeat the request later.',
  ],
  container_engine_error: [
    'The container engine refused or could not do what an agent needs.',
    'Run ./roost doctor on the machine. The detail has the reason of the engine.',
  ],
  upstream_error: [
    'A service outside of the platform did not answer as it should.',
    'Read the detail. Check the service and the network of the platform.',
  ],
  agent_not_running: [
    'The container of the agent is not running, or its program is not connected yet.',
    'Start the agent. If it runs, wait some seconds and look at its log.',
  ],
  run_failed: [
    'The agent accepted the message, and the run ended with an error.',
    'Open the execution that the body names. Its log has the reason.',
  ],
  circuit_open: [
    'Several runs of the agent were refused by its model provider, so new ones are held back.',
    'Check the key and the limits of the provider. The breaker tests by itself, or reset it on the agent.',
  ],
  scheduler_unavailable: [
    'The scheduler process is not running or cannot be reached.',
    'Run ./roost doctor. ./roost up restarts the scheduler by itself.',
  ],
  ephemeral_unavailable: [
    'Redis cannot be reached. What needs it is refused; other functions work.',
    'Check Redis and ROOST_REDIS_URL.',
  ],
  store_unavailable: [
    'The database or the data directory cannot be read or written.',
    'Check the database, its disk and its address. GET /health has the reason.',
  ],
  starting_up: ['The process has started and is not ready.', 'Repeat the request after some seconds.'],
  stopping: [
    'This process of the platform ends within seconds.',
    'Send new requests to another process, or repeat after the restart.',
  ],
  migrations_incomplete: [
    'The schema of the database is older or newer than this version of Roost needs.',
    'Wait while migrations run. If it stays, run ./roost doctor, and start the newest version.',
  ],
  mcp_unavailable: [
    'The MCP server process is not running.',
    'Wait some seconds: ./roost up restarts it. Look into logs/mcp.log if it stays.',
  ],
  not_configured: [
    'The function needs a setting, a key or a variable that is missing.',
    'Read the detail, and set what it names as an admin.',
  ],
  run_timeout: [
    'The run was stopped at its time limit. What it did until then remains.',
    'Raise the timeout, or split the task.',
  ],
  sync_wait_exceeded: [
    'The response would have taken longer than a connection may wait. The run continues.',
    'Poll the execution that the body names, or use a stream.',
  ],
  scheduler_timeout: [
    'The scheduler is running and did not answer in time.',
    'Repeat the request. If it stays, look at the load of the machine and logs/scheduler.log.',
  ],
  agent_unresponsive: [
    'The program in the container did not answer in time, often because the machine is overloaded.',
    'Repeat the request. If it stays, restart the agent and look at its log.',
  ],
  store_full: [
    'The disk of the database has no space, so nothing can be stored.',
    'Free disk space. The platform continues by itself.',
  ],
} as const
