import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'

/**
 * Ids of sessions that any MCP server of the installation can continue: an id holds what the client sent to start,
 * sealed for the key that started it. It grants nothing: each request has its key checked.
 */
export type SessionIds = {
  /** `start` comes from `smallStart`. */
  issue(start: SessionStart, keyId: string): string
  /** Returns null for an id of another key or installation, and for anything else. */
  read(id: string, keyId: string): SessionStart | null
}

/** The parameters of an `initialize` request that a server needs to continue. */
export type SessionStart = z.infer<typeof SessionStart>
export const SessionStart = z.object({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  clientInfo: z.object({ name: z.string(), version: z.string() }),
})

const maxVersionLength = 40
const maxNameLength = 100
/** Servers and proxies limit headers to 8 KB. Capabilities above this are left out; no tool depends on them. */
const maxCapabilitiesLength = 2000
const maxIdLength = 6000
const [nonceBytes, tagBytes] = [12, 16]

/** Returns what a process may keep of a start, which is what fits into an id. */
export function smallStart({ protocolVersion, capabilities, clientInfo }: SessionStart): SessionStart {
  const isSmall = JSON.stringify(capabilities).length <= maxCapabilitiesLength
  return {
    protocolVersion: protocolVersion.slice(0, maxVersionLength),
    capabilities: isSmall ? capabilities : {},
    clientInfo: {
      name: clientInfo.name.slice(0, maxNameLength),
      version: clientInfo.version.slice(0, maxNameLength),
    },
  }
}

/** `secret` is equal in all processes of the installation. */
export function createSessionIds(secret: string): SessionIds {
  const key = createHmac('sha256', secret).update('mcp sessions').digest()

  return {
    issue(start, keyId) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(keyId))
      const sealed = Buffer.concat([cipher.update(JSON.stringify(start)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },

    read(id, keyId) {
      const bytes = Buffer.from(id.length <= maxIdLength ? id : '', 'base64url')
      const sealed = bytes.subarray(nonceBytes + tagBytes)
      // Several texts decode to the same bytes; a session has one id.
      if (sealed.length === 0 || bytes.toString('base64url') !== id) return null
      const options = { authTagLength: tagBytes }
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), options)
        .setAAD(Buffer.from(keyId))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      try {
        const text = Buffer.concat([decipher.update(sealed), decipher.final()]).toString()
        return SessionStart.parse(JSON.parse(text))
      } catch {
        return null
      }
    },
  }
}
