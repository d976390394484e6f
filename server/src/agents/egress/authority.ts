import { createSecureContext, type SecureContext } from 'node:tls'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { authorityStore } from './store.ts'

/** The authority of this installation, which agents with bound credentials trust beside the world's own. */
export type Authority = {
  /** Its certificate, PEM; made when it is first asked for. */
  certificate(): Promise<string>
  /** What a server of this name shows, signed by the authority. */
  contextFor(host: string): Promise<SecureContext>
}

export type AuthorityDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
}

const context = 'egress-authority'
const day = 24 * 3600 * 1000
const authorityDays = 3650
const leafDays = 30
const mostHosts = 500

/** The library is large and is loaded when the first certificate is made. */
export function createAuthority({ db, clock, vault }: AuthorityDeps): Authority {
  type Issuer = Awaited<ReturnType<typeof openIssuer>>
  let issuer: Promise<Issuer> | null = null
  const leaves = new Map<string, { made: Promise<SecureContext>; until: number }>()

  async function openIssuer() {
    const { createIssuer, makeAuthority } = await import('./certificates.ts')
    const present = await authorityStore(db).get()
    if (present)
      return createIssuer({ certificate: present.certificate, key: vault.open(present.key_sealed, context) })
    const now = clock.now()
    const made = await makeAuthority(now, new Date(now.getTime() + authorityDays * day))
    // Of several processes that make one at once, one's is kept and all read it.
    await authorityStore(db).insert({
      id: 1,
      certificate: made.certificate,
      key_sealed: vault.seal(made.key, context),
      created_at: timestamp(now),
    })
    const kept = await authorityStore(db).get()
    if (!kept) throw new Error('the authority was made and is gone')
    return createIssuer({ certificate: kept.certificate, key: vault.open(kept.key_sealed, context) })
  }

  function opened(): Promise<Issuer> {
    issuer ??= openIssuer().catch((error: unknown) => {
      issuer = null
      throw error
    })
    return issuer
  }

  async function sign(host: string): Promise<SecureContext> {
    const now = clock.now().getTime()
    const { certificate, key } = await (await opened()).issue(host, {
      // Clocks of containers may be behind.
      notBefore: new Date(now - day),
      notAfter: new Date(now + leafDays * day),
    })
    return createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' })
  }

  return {
    certificate: async () => (await opened()).certificate,
    contextFor(host) {
      const now = clock.now().getTime()
      const held = leaves.get(host)
      if (held && held.until > now) return held.made
      const made = sign(host)
      leaves.delete(host)
      leaves.set(host, { made, until: now + (leafDays / 2) * day })
      made.catch(() => leaves.delete(host))
      const [oldest] = leaves.keys()
      if (leaves.size > mostHosts && oldest !== undefined) leaves.delete(oldest)
      return made
    },
  }
}
