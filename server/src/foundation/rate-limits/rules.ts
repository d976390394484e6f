import type { ErrorCode } from '@roost/contracts/kit/errors'

/** At most `limit` uses per subject in a window that starts with the first use. */
export type RateRule = {
  /** Names the counter. */
  name: string
  limit: number
  windowSeconds: number
  /**
   * While the store is unavailable, `open` allows every use and `process` counts in this process. Guessing
   * passwords must stay slow during an outage; no other rule justifies refusing requests.
   */
  whenDown: 'open' | 'process'
  /** Error code of a refusal; default `rate_limited`. */
  refusal?: ErrorCode
}

const minute = 60
const hour = 3600

/** Rate limits except those of webhooks, which are settings. A comment names the subjects of the rules below it. */
export const rateRules = {
  // account, client address
  passwordAccount: rule('password-account', 5, 15 * minute, 'process', 'too_many_attempts'),
  passwordAddress: rule('password-address', 30, 5 * minute, 'process', 'too_many_attempts'),
  // e-mail address, e-mail address, client address
  emailCodeRequest: rule('email-code-request', 3, 10 * minute, 'process'),
  emailCodeAttempt: rule('email-code-attempt', 5, 10 * minute, 'process', 'too_many_attempts'),
  emailCodeAddress: rule('email-code-address', 60, 5 * minute, 'process'),
  // account; the limit per challenge is not enough, because a password holder can request many challenges
  secondFactor: rule('second-factor', 10, 15 * minute, 'process', 'too_many_attempts'),
  // client address
  accessRequest: rule('access-request', 20, hour, 'process'),
  setup: rule('setup', 30, 10 * minute, 'process'),
  // person
  keyCreation: rule('key-creation', 300, hour, 'open'),
  socketTicket: rule('socket-ticket', 300, minute, 'open'),
  // source
  event: rule('event', 600, minute, 'open'),
  // agent
  reminder: rule('reminder', 30, minute, 'open'),
  ask: rule('ask', 30, minute, 'open'),
  notification: rule('notification', 60, minute, 'open'),
  report: rule('report', 60, minute, 'open'),
  canvasWrite: rule('canvas-write', 60, minute, 'open'),
  credentialInjection: rule('credential-injection', 30, minute, 'open'),
  credentials: rule('credentials', 30, minute, 'open'),
  sshAccess: rule('ssh-access', 30, minute, 'open'),
  bind: rule('bind', 30, minute, 'open'),
  keyVerify: rule('key-verify', 30, minute, 'open'),
  voipCall: rule('voip-call', 5, minute, 'open'),
  // client address, link, client address, e-mail address, client address
  publicChatAddress: rule('public-chat-address', 30, minute, 'open'),
  publicChatLink: rule('public-chat-link', 60, minute, 'open'),
  publicLookup: rule('public-lookup', 60, minute, 'open'),
  publicCode: rule('public-code', 3, 10 * minute, 'process'),
  paidChat: rule('paid-chat', 30, minute, 'open'),
  // link and client address; decides whether a request counts as another view
  canvasView: rule('canvas-view', 1, minute, 'open'),
  // client address, e-mail address
  workspaceCodeClient: rule('workspace-code-client', 30, minute, 'process'),
  workspaceCode: rule('workspace-code', 5, 5 * minute, 'process'),
  // person and agent
  workspaceChatMinute: rule('workspace-chat-minute', 20, minute, 'open'),
  workspaceChatHour: rule('workspace-chat-hour', 300, hour, 'open'),
  workspaceUpload: rule('workspace-upload', 20, minute, 'open'),
  // user
  slackMessage: rule('slack-message', 30, minute, 'open'),
  // user who gets the notice
  slackNotice: rule('slack-notice', 1, minute, 'open'),
}

function rule(
  name: string,
  limit: number,
  windowSeconds: number,
  whenDown: RateRule['whenDown'],
  refusal?: ErrorCode,
): RateRule {
  return { name, limit, windowSeconds, whenDown, ...(refusal ? { refusal } : {}) }
}
