import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { EgressAuthority } from '@roost/contracts/agents/egress'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { authorityDays, leafUntil, overlapDays, rolesOf } from './authority-rules.ts'
import { authorityStore } from './store.ts'
import type { AuthorityTable } from './tables.ts'

/**
 * The CA of this installation, trusted by agents with bound credentials. One year before its end a second one
 * is created. Agents trust that one from their next connection, and it signs in the last months.
 */
export type Authority = {
  /** The certificates that agents trust, as concatenated PEM; creates the first one on demand. */
  certificate(): Promise<string>
  /** TLS context for a server name, signed by the authority. */
  contextFor(host: string): Promise<SecureContext>
  /** Creates the next authority in time and deletes expired ones; does nothing if there never was one. */
  renew(): Promise<void>
  /** The current state in the database. */
  view(): Promise<EgressAuthority>
}

export type AuthorityDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
}

const context = 'egress-authority'
const day = 24 * 3600 * 1000
const leafDays = 30
const maxCachedHosts = 500
/** Another process may have created the next authority meanwhile. */
const reloadMs = 3600 * 1000

/** Loads the large certificate library only when the first certificate is needed. */
export function createAuthority({ db, clock, vault }: AuthorityDeps): Authority {
  type Opened = Awaited<ReturnType<typeof openNow>>
  let opening: { opened: Promise<Opened>; until: number } | null = null
  const leaves = new Map<string, { made: Promise<SecureContext>; until: number }>()

  const roles = async () => rolesOf((await authorityStore(db).all()).map(lifetimeOf), clock.now())

  /** Of concurrent inserts by several processes one succeeds, and all processes read it. */
  async function makeNext(id: number): Promise<void> {
    const { makeAuthority } = await import('./certificates.ts')
    const now = clock.now()
    const created = await makeAuthority(now, new Date(now.getTime() + authorityDays * day))
    await authorityStore(db).insert({
      id,
      certificate: created.certificate,
      key_sealed: vault.seal(created.key, context),
      created_at: timestamp(now),
    })
  }

  async function openNow() {
    const before = await roles()
    if (before.isNextDue) await makeNext(before.nextId)
    const { signer, trusted } = before.isNextDue ? await roles() : before
    if (!signer) throw new Error('the new egress authority is missing from the database')
    const { createIssuer } = await import('./certificates.ts')
    const key = vault.open(signer.row.key_sealed, context)
    return {
      signer,
      issuer: await createIssuer({ certificate: signer.row.certificate, key }),
      certificates: trusted.map(({ row }) => row.certificate.trimEnd()).join('\n'),
    }
  }

  function opened(): Promise<Opened> {
    const now = clock.now().getTime()
    if (opening && opening.until > now) return opening.opened
    const fresh = { opened: openNow(), until: now + reloadMs }
    opening = fresh
    fresh.opened.catch(() => {
      if (opening === fresh) opening = null
    })
    return fresh.opened
  }

  async function sign(host: string): Promise<SecureContext> {
    const now = clock.now()
    const { issuer, signer } = await opened()
    const { certificate, key } = await issuer.issue(host, {
      // Tolerates container clocks that are behind.
      notBefore: new Date(now.getTime() - day),
      notAfter: leafUntil(now, leafDays, signer),
    })
    return createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' })
  }

  return {
    certificate: async () => `${(await opened()).certificates}\n`,

    contextFor(host) {
      const now = clock.now().getTime()
      const cached = leaves.get(host)
      if (cached && cached.until > now) return cached.made
      const made = sign(host)
      leaves.delete(host)
      leaves.set(host, { made, until: now + (leafDays / 2) * day })
      made.catch(() => leaves.delete(host))
      const [oldest] = leaves.keys()
      if (leaves.size > maxCachedHosts && oldest !== undefined) leaves.delete(oldest)
      return made
    },

    async renew() {
      const { trusted, over, isNextDue, nextId } = await roles()
      // An expired or missing authority is created when it is first needed.
      if (trusted.length > 0 && isNextDue) await makeNext(nextId)
      if (trusted.length > 0) await authorityStore(db).remove(over.map(({ id }) => id))
    },

    async view() {
      const { signer, trusted } = await roles()
      const last = trusted.at(-1)
      return {
        signs_until: signer ? timestamp(signer.until) : null,
        renews_at: last ? timestamp(new Date(last.until.getTime() - overlapDays * day)) : null,
        trusted: trusted.length,
      }
    },
  }
}

function lifetimeOf(row: AuthorityTable) {
  return { id: row.id, until: new X509Certificate(row.certificate).validToDate, row }
}

export const sealedColumns: SealedColumn[] = [
  { table: 'egress_authority', column: 'key_sealed', key: ['id'], context: () => context },
]
