import type { PaidChat, PaidChatBody, PaidChatInfo } from '@roost/contracts/conversations/paid'
import { paidNetwork, paidNetworks } from '@roost/contracts/conversations/paid-networks'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { FacilitatorDown, type Payments } from '../../ports/payments/port.ts'
import { isChecksumValid, withChecksum } from './checksum.ts'
import { assetOf, microsOf, type Offer, requirementsOf } from './rules.ts'
import { type OfferRow, paidStore } from './store.ts'

export type OffersDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byName'>
  /** Null when this installation collects no payments. */
  payments: Payments | null
  baseUrl: string
}

type NamedAgent = { id: string; name: string }

/** `offer` is null when the agent has no enabled offer. */
export type OfferLookup = { agent: NamedAgent; offer: Offer | null }

export type Offers = {
  view(agent: NamedAgent): Promise<PaidChat>
  /** Throws `validation_error`. */
  change(agent: NamedAgent, body: PaidChatBody): Promise<PaidChat>
  remove(agent: NamedAgent): Promise<void>
  /** Finds the agent named by a stranger. Throws `not_found` for an unknown agent. */
  lookUp(name: string): Promise<OfferLookup>
  /** Returns an enabled offer. Throws `not_found` when there is none. */
  getOffer(name: string): Promise<Offer>
  info(name: string): Promise<PaidChatInfo>
}

/** Manages the price of a message to an agent, and publishes it to strangers. */
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

  async function lookUp(name: string): Promise<OfferLookup> {
    const found = await agentRecords.byName(name)
    if (!found) throw offerNotFound()
    const agent = { id: found.id, name: found.name }
    const row = await store.offer(agent.id)
    if (row?.enabled !== 1) return { agent, offer: null }
    const { price_micros, pay_to, network, asset, description } = row
    return {
      agent,
      offer: { agent, price_micros, pay_to, network, asset, description, url: urlOf(agent.name) },
    }
  }

  async function getOffer(name: string): Promise<Offer> {
    const { offer } = await lookUp(name)
    if (!offer) throw offerNotFound()
    return offer
  }

  /** Notifies the viewers of the agent in the same transaction. */
  async function changeAndNotify(
    agent: NamedAgent,
    write: (to: ReturnType<typeof paidStore>) => Promise<void>,
  ) {
    await db.atomically(async (tx) => {
      await write(paidStore(tx))
      const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
      await events.append(tx, { ...event, fields: { setting: 'paid' } }, clock.now())
    })
  }

  return {
    view,
    lookUp,
    getOffer,

    async change(agent, body) {
      const row = rowOf(agent.id, body, clock.now())
      if (body.enabled) await requireSupportedNetwork(payments, row.network)
      await changeAndNotify(agent, (to) => to.putOffer(row))
      return view(agent)
    },

    remove: (agent) => changeAndNotify(agent, (to) => to.removeOffer(agent.id)),

    async info(name) {
      const offer = await getOffer(name)
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

/** Agents without an offer look like unknown agents to people without an account. */
export function offerNotFound(): Fault {
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
  if (!isChecksumValid(body.pay_to))
    throw invalidField(['pay_to'], 'has a typing error: the checksum in its letters is wrong')
  return {
    agent_id: agentId,
    enabled: body.enabled ? 1 : 0,
    price_micros: micros,
    pay_to: withChecksum(body.pay_to),
    network: body.network,
    asset: asset.asset,
    description: body.description || null,
    updated_at: timestamp(now),
  }
}

/**
 * Throws `validation_error` when the facilitator lists its networks and this one is missing. A facilitator that does
 * not answer does not block the change: payers get the error later.
 */
async function requireSupportedNetwork(payments: Payments | null, network: string): Promise<void> {
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
