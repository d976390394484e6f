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
  /** The subject is a client address, which is counted by its network. */
  perClient?: true
}

/** Limits attempts on one subject, from one place and from all places of a kind together. */
export type PlaceRule = { each: RateRule; all: RateRule }

const minute = 60
const hour = 3600

/** Rate limits except those of webhooks, which are settings. A comment names the subjects of the rules below it. */
export const rateRules = {
  // account and place; a client address, whatever the account
  password: fromPlaces('password', [5, 100], 15 * minute, 'too_many_attempts'),
  passwordAddress: perClient('password-address', 30, 5 * minute, 'process', 'too_many_attempts'),
  // e-mail address and place; a client address, whatever the e-mail address
  emailCodeRequest: fromPlaces('email-code-request', [3, 15], 10 * minute),
  emailCodeAttempt: fromPlaces('email-code-attempt', [5, 25], 10 * minute, 'too_many_attempts'),
  emailCodeAddress: perClient('email-code-address', 60, 5 * minute, 'process'),
  // account and place; the limit per challenge is not enough, because a password holder can request many challenges
  secondFactor: fromPlaces('second-factor', [10, 30], 15 * minute, 'too_many_attempts'),
  // client address
  accessRequest: perClient('access-request', 20, hour, 'process'),
  setup: perClient('setup', 30, 10 * minute, 'process'),
  // person
  keyCreation: rule('key-creation', 300, hour, 'open'),
  conversationShare: rule('conversation-share', 30, hour, 'process'),
  pushDevice: rule('push-device', 30, minute, 'open'),
  pushTest: rule('push-test', 10, minute, 'open'),
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
  // client address; link; client address, three times
  publicChatAddress: perClient('public-chat-address', 30, minute, 'open'),
  publicChatLink: rule('public-chat-link', 60, minute, 'open'),
  publicLookup: perClient('public-lookup', 60, minute, 'open'),
  paidInfo: perClient('paid-info', 30, minute, 'open'),
  paidChat: perClient('paid-chat', 30, minute, 'open'),
  // link and network of the client address; decides whether a request counts as another view
  canvasView: rule('canvas-view', 1, minute, 'open'),
  // client address; e-mail address and place, twice
  workspaceCodeClient: perClient('workspace-code-client', 30, minute, 'process'),
  workspaceCode: fromPlaces('workspace-code', [5, 25], 5 * minute),
  publicCode: fromPlaces('public-code', [3, 15], 10 * minute),
  // person and agent
  workspaceChatMinute: rule('workspace-chat-minute', 20, minute, 'open'),
  workspaceChatHour: rule('workspace-chat-hour', 300, hour, 'open'),
  workspaceUpload: rule('workspace-upload', 20, minute, 'open'),
  // person and agent: notifications on devices, so that one agent cannot drown the others
  push: rule('push', 20, 10 * minute, 'open'),
  // user
  slackMessage: rule('slack-message', 30, minute, 'open'),
  // user who gets the notice
  slackNotice: rule('slack-notice', 1, minute, 'open'),
}

/** The limits for one place, and for all strangers or all known devices together. */
function fromPlaces(
  name: string,
  [each, all]: readonly [number, number],
  windowSeconds: number,
  refusal?: ErrorCode,
): PlaceRule {
  return {
    each: rule(name, each, windowSeconds, 'process', refusal),
    all: rule(`${name}-all`, all, windowSeconds, 'process', refusal),
  }
}

/** A limit for each client address, whatever else the request names. */
function perClient(...args: Parameters<typeof rule>): RateRule {
  return { ...rule(...args), perClient: true }
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
