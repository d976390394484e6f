/** Help for errors of requests, credentials and rights: cause and remedy. */
export const requestsHelp = {
  malformed_request: [
    'The bytes that arrived are not HTTP, or a proxy sent HTTPS to the HTTP port.',
    'Check the address, its scheme and its port. Look for a proxy that changes requests.',
  ],
  invalid_cron_expression: [
    'A value is outside of its range, such as minute 61, or a field is missing. Roost reads the five standard fields: minute, hour, day of month, month, day of week. Seconds and names such as @daily are not supported.',
    'Correct the field that the detail names. A valid example is 0 9 * * 1-5.',
  ],
  invalid_timezone: [
    'The name is missing in the IANA time zone database. Abbreviations such as CET may be missing too.',
    'Use a name such as Europe/Berlin or UTC.',
  ],
  invalid_recipient: [
    'A result can be delivered only to a valid e-mail address.',
    'Correct the address, or leave the field empty.',
  ],
  schedule_timeout_exceeds_agent_cap: [
    'A schedule cannot run longer than its agent allows.',
    'Lower the timeout of the schedule, or raise the execution timeout in the settings of the agent.',
  ],
  agent_timeout_below_active_schedules: [
    'Active schedules of this agent have a longer timeout than the new limit.',
    'Lower the timeouts of the schedules that the error names, or disable them. Then repeat the change.',
  ],
  loop_timeout_exceeds_agent_cap: [
    'A run of a loop cannot take longer than its agent allows.',
    'Lower timeout_per_run, or raise the execution timeout in the settings of the agent.',
  ],
  loop_deadline_below_run_timeout: [
    'The whole loop would have to end before its first run must.',
    'Raise max_duration_seconds, or lower timeout_per_run.',
  ],
  unknown_scope: [
    'Keys have a closed list of scopes, and the value is not among them.',
    'Choose one of the scopes in the guide about keys.',
  ],
  scope_not_requestable: [
    'The platform creates keys of this scope by itself, or another route does.',
    'Choose another scope, or use the route that the detail names.',
  ],
  invalid_skill_source: [
    'The address of the source is not a repository that Roost can read, or its branch is invalid.',
    'Check the address, the branch and the path in the settings of the source.',
  ],
  sync_failed: [
    'The repository could not be read. The detail has the reason of git.',
    'Check the address, the token and the network of the platform. Then sync again.',
  ],
  template_unresolvable: [
    'The template could not be found, or its repository could not be read.',
    'Check the name or address. For a private repository, store a git token first.',
  ],
  weak_password: [
    'The password is too short, too long, or among the most common ones.',
    'Choose a password of 12 to 128 characters that you use nowhere else.',
  ],
  password_mismatch: ['The two entered passwords differ.', 'Enter the same password twice.'],
  self_share: ['The owner has all rights on the agent already.', 'Enter the address of another person.'],
  credential_path_refused: [
    'Credentials can be stored only in the files that the runtimes read.',
    'Use one of the paths that the detail lists.',
  ],
  invalid_mcp_json: [
    'The file .mcp.json is not JSON, or its servers are not described as expected.',
    'Correct the file. The detail names the place.',
  ],
  bundle_missing: [
    'No credential bundle was exported for this agent.',
    'Export the credentials first, or inject the files directly.',
  ],
  bundle_corrupt: [
    'The bundle was changed, cut off, or belongs to another installation with another encryption key.',
    'Export it again, or inject the files directly.',
  ],
  email_not_required: [
    'The public link is open to everybody, so there is no address to confirm.',
    'Open the chat directly.',
  ],
  invalid_payment: [
    'The proof of payment is not in the expected form or belongs to another offer.',
    'Read the offer again and pay for it. See the guide about paid chat.',
  ],
  not_authenticated: [
    'The request has no bearer token.',
    'Sign in, or send the header Authorization: Bearer with a key.',
  ],
  invalid_token: [
    'The session or key has ended, was revoked, or belongs to another installation.',
    'Sign in again, or create a new key.',
  ],
  run_key_ended: [
    'The key belongs to one run, which has ended.',
    'Use a key of your own for programs that outlive a run.',
  ],
  invalid_credentials: [
    'User name or password is wrong. Which one is not said.',
    'Try again, or ask an admin to set a new password. An admin without access runs ./roost regain-admin.',
  ],
  setup_required: [
    'The platform was started for the first time and has no admin.',
    'Open the platform in a browser and set the admin password.',
  ],
  invalid_code: [
    'The code was mistyped, used already, or has expired.',
    'Request a new code. For an authenticator app, check the clock of the device.',
  ],
  challenge_expired: [
    'More than a few minutes passed between the password and the second factor.',
    'Start the sign-in again.',
  ],
  invalid_signature: [
    'The signature was computed from another body or with another secret.',
    'Sign the exact bytes of the body with the current secret. See the guide about webhooks.',
  ],
  session_expired: [
    'The session ended because of its age, a sign-out, or a changed password.',
    'Sign in again.',
  ],
  sign_in_required: [
    'The page is visible only to people with access.',
    'Sign in with the address that has access.',
  ],
  access_recheck_failed: [
    'The access of this address has ended since the session began.',
    'Ask the owner of the agent to share it again.',
  ],
  payment_required: [
    'The owner of the agent charges for each message.',
    'Pay the offer in the body, and repeat the request with the proof. See the guide about paid chat.',
  ],
  payment_failed: [
    'The payment service refused or could not confirm the payment.',
    'Check the balance and the network of the payment. Nothing was delivered.',
  ],
  cap_reached: [
    'The agent or the platform has reached its spend cap for this period.',
    'Wait for the next period, or raise the cap as an admin.',
  ],
  mfa_required: [
    'The password is right, and the account has a second factor.',
    'Send the code to the verification route with the challenge of this response.',
  ],
  admin_required: ['The action changes the whole platform.', 'Ask an admin, or sign in as one.'],
  principal_not_allowed: [
    'The run works for a person who may not do this, so the run may not do it either.',
    'Ask that person for access, or start the run as somebody who has it.',
  ],
  owner_required: ['Only the owner of the agent and admins may change this.', 'Ask the owner of the agent.'],
  workspace_read_only: [
    'The share allows chat and reading, and no changes of files.',
    'Ask the owner for a share with write access.',
  ],
  human_only: [
    'The route decides about people or money, so keys of programs cannot use it.',
    'Sign in with a browser or roost login.',
  ],
  person_required: [
    'The route needs to know a person, and the key belongs to an agent or the platform.',
    'Use a session or a user key.',
  ],
  agent_identity_required: [
    'Only the agent itself may report this.',
    'Call the route from the agent, with its own key.',
  ],
  scope_not_allowed: [
    'The scope of the key is narrower than this route.',
    'Create a key with a wider scope. The access table lists which scope reaches which route.',
  ],
  role_required: [
    'The route needs another role than yours.',
    'Ask an admin for the role that the detail names.',
  ],
  agent_quota_exceeded: [
    'You own as many agents as your account allows.',
    'Delete an agent, or ask an admin for a higher limit.',
  ],
  agent_access_denied: ['The agent exists and is not shared with you.', 'Ask its owner to share it.'],
  agent_not_permitted: [
    'Agents may call each other only with a permission, and there is none for this pair.',
    'Add the permission in the settings of the calling agent.',
  ],
  inter_agent_depth_exceeded: [
    'Agents call each other in a chain that is longer than allowed, often in a circle.',
    'Shorten the chain, or let the first agent call the last one.',
  ],
  system_agent_protected: [
    'The platform needs its system agent as it is.',
    'Use an agent of your own for this.',
  ],
  setup_completed: [
    'The admin password was set before. The first setup works once.',
    'Sign in. Without the password, run ./roost regain-admin on the machine.',
  ],
  access_requests_disabled: [
    'An admin has switched off requests for access.',
    'Ask the owner of the agent or an admin directly.',
  ],
  email_login_disabled: [
    'No mail server is configured, or an admin has switched off this kind of sign-in.',
    'Sign in with a password, or ask an admin.',
  ],
  account_suspended: [
    'An admin has suspended the account. Its keys and sessions do not work.',
    'Ask an admin.',
  ],
  delivery_target_requires_owner: [
    'You may have results delivered to yourself only.',
    'Leave the recipient empty, or ask the owner of the agent.',
  ],
  entitlement_required: [
    'The feature is not part of what this installation is entitled to.',
    'Ask the operator of the installation.',
  ],
  ssh_disabled: [
    'An admin has switched off SSH access to agents.',
    'Use the terminal in the browser, or ask an admin.',
  ],
  protected_path: [
    'The path belongs to the platform or controls what runs of the agent do.',
    'Choose another path. Only the owner may change files that runs obey.',
  ],
  foreign_request: [
    'The internal listener was called with a foreign host name or from a web page.',
    'Use the public address. Processes of the platform use 127.0.0.1.',
  ],
  own_role: ['An admin who locks himself out could not be helped by anybody.', 'Ask another admin.'],
} as const
