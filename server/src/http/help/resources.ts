/** Help for missing resources, conflicts and sizes: cause and remedy. */
export const resourcesHelp = {
  agent_not_found: [
    'No agent has this name, or you have no access to it. Both look the same on purpose.',
    'Check the name in the list of agents, or ask its owner to share it.',
  ],
  schedule_not_found: [
    'The schedule was deleted or belongs to another agent.',
    'Check the id in the list of schedules of this agent.',
  ],
  execution_not_found: [
    'The execution was deleted after its retention time, or belongs to another agent.',
    'Check the id in the list of executions.',
  ],
  session_not_found: [
    'The conversation was deleted, or belongs to another person or agent.',
    'Open the list of conversations and start from there.',
  ],
  loop_not_found: [
    'The loop was deleted, or belongs to another agent.',
    'Check the id in the list of loops.',
  ],
  skill_not_found: [
    'No enabled source has a skill of this name.',
    'Check the name in the library, and sync the source.',
  ],
  source_not_found: ['The skill source was removed.', 'Check the list of sources in the settings.'],
  key_not_found: ['The key was deleted, or belongs to another person.', 'Check the list of keys.'],
  webhook_not_found: [
    'The token was rotated or revoked, or the address was copied incompletely.',
    'Copy the address of the webhook again from the schedule.',
  ],
  link_not_found: ['The link was revoked or has expired.', 'Ask the person who sent it for a new one.'],
  canvas_not_found: [
    'The agent has no canvas, or the link to it was revoked.',
    'Check the agent, or ask for a new link.',
  ],
  file_not_found: [
    'There is no file at this path of the workspace. Paths are relative to the workspace.',
    'Check the path in the file view.',
  ],
  record_not_found: [
    'The record was removed by retention, or belongs to another agent. The first record has none before it.',
    'Check the list of records. Pin a record that must stay.',
  ],
  template_not_found: ['No template has this name.', 'Check the list of templates.'],
  setting_not_found: ['The setting was never stored.', 'Check the key, or store a value first.'],
  git_not_configured: [
    'The agent was not created from a repository and was not bound to one.',
    'Bind a repository on the Git tab of the agent.',
  ],
  feature_disabled: ['An admin has switched the feature off.', 'Ask an admin.'],
  not_found: [
    'No route has this path, or the resource does not exist. A proxy may change paths.',
    'Check the path with the API page at /docs.',
  ],
  method_not_allowed: [
    'The path exists with other methods. The header Allow lists them.',
    'Use one of the methods in the header Allow.',
  ],
  request_timeout: [
    'The connection was too slow, or the client stopped sending.',
    'Repeat the request. Check the timeouts of proxies.',
  ],
  agent_exists: [
    'Names of agents are unique on the platform, also among agents that you cannot see.',
    'Choose another name.',
  ],
  upload_expired: [
    'An upload in parts paused for more than 10 minutes, or the agent restarted in between.',
    'Send the file again from its beginning, with a new upload id.',
  ],
  agent_program_outdated: [
    'The container was started by an older release, and its program does not know the operation.',
    'Restart the agent, then repeat the action.',
  ],
  agent_stopped: [
    'The agent is stopped, and the action needs it running.',
    'Start the agent, then repeat the action.',
  ],
  created_resource_gone: [
    'An earlier request with this idempotency key created something that was deleted since.',
    'Use a new idempotency key to create it again.',
  ],
  request_in_progress: [
    'The first request with this idempotency key has not ended.',
    'Wait for it, or poll the execution that the body names.',
  ],
  turn_in_progress: [
    'A conversation runs one turn at a time.',
    'Wait for the answer, stop the turn, or use another conversation.',
  ],
  injection_in_progress: [
    'Credentials of this agent are being written by another request.',
    'Wait a moment and repeat the request.',
  ],
  already_shared: ['The address has a share of this agent.', 'Change the existing share instead.'],
  already_exists: [
    'Something with the same name or key exists.',
    'Choose another name, or change the existing one.',
  ],
  already_finished: [
    'The run, loop or task has ended, so it cannot be stopped or changed.',
    'Reload its state. Start a new one if needed.',
  ],
  secret_without_token: ['A signing secret needs a webhook to sign for.', 'Create the webhook first.'],
  item_not_pending: [
    'Somebody has answered, resolved or cancelled the item, or it has expired.',
    'Reload the inbox.',
  ],
  item_diverged: ['The item was changed after it was shown to you.', 'Reload it and decide again.'],
  backups_unavailable: [
    'The container engine refuses the jobs that read the volumes of agents, or cannot be reached.',
    'Read the reason in the settings. Back up from the host, as the guide “Back up and restore” describes.',
  ],
  backup_not_configured: [
    'No repository is set, or its passphrase or credentials are missing.',
    'Fill in the section “Backups” of the settings.',
  ],
  backup_in_progress: [
    'A backup, restore or verification of this installation has not ended.',
    'Wait until it has ended. The settings show its result.',
  ],
  sync_in_progress: [
    'The source or repository is being synced by another request.',
    'Wait for that sync to end.',
  ],
  fleet_restart_in_progress: [
    'An admin has started a restart of all agents, which has not ended.',
    'Wait until it has ended.',
  ],
  git_conflict: [
    'The branch and its remote have changes that git cannot combine, or there are local changes in the way.',
    'Read the conflict type in the body. Resolve it on the Git tab or in the terminal.',
  ],
  restore_begun: [
    'Only a restore that waits for running runs can be cancelled, and this one already changes the workspace.',
    'Wait until it has ended, and restore the record that was made before it.',
  ],
  agent_busy: [
    'The agent has no free slot, or it is being started, stopped or changed.',
    'Wait and repeat. Raise the number of parallel tasks if this happens often.',
  ],
  disk_quota_reached: [
    'The volumes and the container of the agent use more than its quota. New runs wait.',
    'Delete files in the workspace, or raise the quota in the settings of the agent.',
  ],
  window_changed: [
    'Another request has changed the window of time since you read it.',
    'Read it again and repeat the change.',
  ],
  stale_value: [
    'Somebody else has saved the value since you read it.',
    'Reload it, look at the difference, and save again.',
  ],
  conflict: [
    'The current state does not allow the change, often because of a concurrent one.',
    'Read the detail, reload, and repeat.',
  ],
  body_too_large: [
    'The body is larger than this route accepts.',
    'Send less, or in several requests. Check the limit in the API page.',
  ],
  attachment_too_large: [
    'An attachment is larger than a message may carry.',
    'Upload the file to the workspace and name its path in the message.',
  ],
  file_too_large: [
    'The file is larger than the browser view and the files API can handle.',
    'Use the terminal, SSH or git for large files.',
  ],
  unsupported_media_type: [
    'The header Content-Type is missing or names another format.',
    'Send application/json, or the type in the API page.',
  ],
  range_not_satisfiable: [
    'The requested part begins after the end of the file, which may have been replaced.',
    'Download the file again from its beginning.',
  ],
} as const
