import type { PaidChat, PaidChatBody, PaidChatInfo } from '@roost/contracts/conversations/paid'
import { paidNetwork, paidNetworks } from '@roost/contracts/conversations/paid-networks'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { FacilitatorDown, type Payments } from '../../ports/payments/port.ts'
import { checksummed, isChecksumRight } from './checksum.ts'
import { assetOf, microsOf, type Offer, requirementsOf } from './rules.ts'
import { type OfferRow, paidStore } from './store.ts'

export type OffersDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byName'>
  /** Null: this installation has none. */
  payments: Payments | null
  baseUrl: string
}

type NamedAgent = { id: string; name: string }

/** `offer` null: it was never made, or has ended. */
export type Sought = { agent: NamedAgent; offer: Offer | null }

export type Offers = {
  view(agent: NamedAgent): Promise<PaidChat>
  /** Throws `validation_error`. */
  change(agent: NamedAgent, body: PaidChatBody): Promise<PaidChat>
  remove(agent: NamedAgent): Promise<void>
  /** Whom a stranger names. Throws `not_found` for an agent that is unknown. */
  seek(name: string): Promise<Sought>
  /** What strangers are offered. Throws `not_found` for agents that are not. */
  find(name: string): Promise<Offer>
  info(name: string): Promise<PaidChatInfo>
}

/** What a message to an agent costs, as its owner sets it and as strangers are told. */
export function createOffers(deps: OffersDeps): Offers {
  const { db, clock, events, agentRecords, payments, baseUrl } = deps
  const store = paidStore(db)
  const urlOf = (name: string) => `${baseUrl}/api/paid/${name}/chat`

  async function view({ id, name }: NamedAgent): Promise<PaidChat> {
    const row = await store.offer(id)
    return {
      agent_name: name,
      enabled: row?.enabled === 1,
      price_usd: row ? row.price_micros / 1_000_000 : null,
      pay_to: row?.pay_to ?? null,
      network: row?.network ?? null,
      asset: row?.asset ?? null,
      description: row?.description ?? null,
      url: urlOf(name),
    }
  }

  async function seek(name: string): Promise<Sought> {
    const found = await agentRecords.byName(name)
    if (!found) throw notOffered()
    const agent = { id: found.id, name: found.name }
    const row = await store.offer(agent.id)
    if (row?.enabled !== 1) return { agent, offer: null }
    const { price_micros, pay_to, network, asset, description } = row
    return {
      agent,
      offer: { agent, price_micros, pay_to, network, asset, description, url: urlOf(agent.name) },
    }
  }

  async function find(name: string): Promise<Offer> {
    const { offer } = await seek(name)
    if (!offer) throw notOffered()
    return offer
  }

  /** The change is told to those who look at the agent. */
  async function changing(agent: NamedAgent, write: (to: ReturnType<typeof paidStore>) => Promise<void>) {
    await db.atomically(async (tx) => {
      await write(paidStore(tx))
      const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
      await events.append(tx, { ...event, fields: { setting: 'paid' } }, clock.now())
    })
  }

  return {
    view,
    seek,
    find,

    async change(agent, body) {
      const row = rowOf(agent.id, body, clock.now())
      if (body.enabled) await refuseUncollectable(payments, row.network)
      await changing(agent, (to) => to.putOffer(row))
      return view(agent)
    },

    remove: (agent) => changing(agent, (to) => to.removeOffer(agent.id)),

    async info(name) {
      const offer = await find(name)
      return {
        agent_name: offer.agent.name,
        payment_required: true,
        price_usd: offer.price_micros / 1_000_000,
        x402Version: 2,
        resource: offer.url,
        accepts: [requirementsOf(offer)],
        description: offer.description,
      }
    },
  }
}

/** An agent that is not offered is as good as none to somebody without an account. */
export function notOffered(): Fault {
  return new Fault('not_found', 'No agent of this name is offered for pay.')
}

function rowOf(agentId: string, body: PaidChatBody, now: Date): OfferRow {
  const micros = microsOf(body.price_usd)
  if (micros === null) throw invalidField(['price_usd'], 'must have at most 6 decimals')
  if (!paidNetwork(body.network)) {
    const known = paidNetworks.map(({ network, label }) => `${network} (${label})`).join(', ')
    throw invalidField(['network'], `is not one of ${known}`)
  }
  const asset = assetOf(body.network, body.asset ?? null)
  if (!asset) throw invalidField(['asset'], 'is not the USDC of the network, the only token that is taken')
  if (/^0x0+$/.test(body.pay_to)) throw invalidField(['pay_to'], 'must not be the zero address')
  if (!isChecksumRight(body.pay_to))
    throw invalidField(['pay_to'], 'has a typing error: the checksum in its letters is wrong')
  return {
    agent_id: agentId,
    enabled: body.enabled ? 1 : 0,
    price_micros: micros,
    pay_to: checksummed(body.pay_to),
    network: body.network,
    asset: asset.asset,
    description: body.description || null,
    updated_at: timestamp(now),
  }
}

/**
 * Throws `validation_error` when the facilitator says what it collects and this is not among it. One that does not
 * answer now stops nobody from setting a price: whoever wants to pay is told then.
 */
async function refuseUncollectable(payments: Payments | null, network: string): Promise<void> {
  const kinds = await payments?.supported().catch((error: unknown) => {
    if (error instanceof FacilitatorDown) return []
    throw error
  })
  const exact = (kinds ?? []).filter(({ scheme }) => scheme === 'exact')
  if (exact.length === 0) return
  const names = [network, paidNetwork(network)?.v1]
  if (exact.some((kind) => names.includes(kind.network))) return
  const offered = [...new Set(exact.map((kind) => kind.network))].join(', ').slice(0, 500)
  throw invalidField(
    ['network'],
    `is not collected by this installation's facilitator, which takes ${offered}`,
  )
}
