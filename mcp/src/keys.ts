import { createHash } from 'node:crypto'
import type { CallReply } from '@roost/contracts/client'
import { ApiError, type Client } from '@roost/contracts/client'
import { validateKey } from '@roost/contracts/identity/keys'

/** The API's description of a valid key. */
export type ValidKey = CallReply<typeof validateKey>

/** The caller's key, and the API as that caller. Null: a valid key without access to MCP. */
export type Caller = { key: ValidKey; api: Client } | null

/** `details` is null for a valid key without access to MCP. */
export type CheckedKey = { id: string; details: ValidKey | null }

export type KeyCheck = {
  /** Returns null for an unknown or revoked key. Throws if the API is not available. */
  check(token: string): Promise<CheckedKey | null>
}

/** Cache time of a check. The API checks the key of every call again. */
const cacheSeconds = 30
const maxEntries = 10_000
const runKeyPrefix = 'svc_mcp_run_'

/** Checks keys with the API, at most once per key and half a minute; keys of runs each time. */
export function createKeyCheck(api: Client, clock: { now(): number }): KeyCheck {
  const checks = new Map<string, { until: number; result: Promise<CheckedKey | null> }>()
  return {
    check(token) {
      const id = createHash('sha256').update(token).digest('base64url')
      // The key of a run ends with it, so its check is never reused.
      if (token.startsWith(runKeyPrefix)) return validate(api.withToken(token), id)
      const now = clock.now()
      const cached = checks.get(id)
      if (cached && cached.until > now) return cached.result
      const result = validate(api.withToken(token), id)
      if (checks.size >= maxEntries) checks.clear()
      checks.set(id, { until: now + cacheSeconds * 1000, result })
      result.catch(() => checks.delete(id))
      return result
    },
  }
}

async function validate(api: Client, id: string): Promise<CheckedKey | null> {
  try {
    const details = await api.call(validateKey, {})
    return { id, details }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return null
    if (error.status === 403) return { id, details: null }
    throw error
  }
}
