import type { RunOf } from '../../identity/run-keys/index.ts'
import { isSameSecret } from '../../kit/same-secret.ts'

/** The scope of a broker token: one execution or one conversation of an agent. */
export type Grant = RunOf

export type BrokerTokens = {
  /** A grant always has the same token, so none is stored and every replica knows all of them. */
  mint(grant: Grant): string
  /** Returns null for a token that was not minted here. */
  read(token: string): Grant | null
}

/** `mac` is a keyed hash of the installation: without its key nobody can make a token. */
export function createBrokerTokens(
  mac: (text: string) => string,
  earlierMacs: (text: string) => readonly string[] = () => [],
): BrokerTokens {
  const sign = (body: string) => mac(`broker-token:${body}`)
  const isSigned = (body: string, signature: string) =>
    [sign(body), ...earlierMacs(`broker-token:${body}`)].some((each) => isSameSecret(signature, each))
  /** Caches tokens, because each is needed at the claim and again for masking every message of the run. */
  const minted = new Map<string, string>()

  function remember(body: string, token: string): string {
    minted.set(body, token)
    const [oldest] = minted.keys()
    if (minted.size > maxCachedTokens && oldest !== undefined) minted.delete(oldest)
    return token
  }

  return {
    mint({ agentId, kind, id }) {
      const body = `${agentId}.${kind === 'session' ? 's' : 'e'}.${id}`
      return minted.get(body) ?? remember(body, `${prefix}${body}.${sign(body)}`)
    },
    read(token) {
      const match = shape.exec(token)
      const [, agentId, letter, id, signature] = match ?? []
      if (!agentId || !letter || !id || !signature) return null
      if (!isSigned(`${agentId}.${letter}.${id}`, signature)) return null
      return { agentId, kind: letter === 's' ? 'session' : 'execution', id }
    },
  }
}

const maxCachedTokens = 1_000
const prefix = 'rbk_'
const shape = /^rbk_([A-Za-z0-9_-]{1,100})\.([es])\.([A-Za-z0-9_-]{1,100})\.([A-Za-z0-9_=+/-]{20,200})$/
