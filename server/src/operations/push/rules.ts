import type { PushPayload } from '@roost/contracts/operations/push'

/** An item that nobody was told of for this long is old news. */
export const messageSeconds = 24 * 3600
const firstRetrySeconds = 30
const longestRetrySeconds = 3600

/** Seconds until the next attempt, after `attempts` failed ones; doubles each time. */
export function retrySeconds(attempts: number, afterSeconds: number | null): number {
  const seconds = Math.min(firstRetrySeconds * 2 ** Math.max(0, attempts - 1), longestRetrySeconds)
  return Math.max(seconds, afterSeconds ?? 0)
}

const longestTitle = 60
const longestBody = 200

/** The notification names the agent and the item's title. Question, context and options stay in the platform. */
export function payloadOf(item: { id: string; title: string }, agentName: string | null): PushPayload {
  return {
    title: cut(agentName ?? 'Roost', longestTitle),
    body: cut(item.title, longestBody),
    item: item.id,
  }
}

export const testPayload: PushPayload = {
  title: 'Roost',
  body: 'Notifications work on this device.',
  item: null,
}

/** Cuts whole characters, so that no half of a surrogate pair remains. */
function cut(text: string, length: number): string {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}
