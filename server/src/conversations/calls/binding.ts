import type { CallBinding, CallBindingBody } from '@roost/contracts/conversations/calls'
import { agentStore } from '../../agents/records/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Telephony, TelephonyDown } from '../../ports/telephony/port.ts'
import { sealToken } from './account.ts'
import type { End } from './end.ts'
import { dayStart } from './rules.ts'
import { bindingStore, callStore } from './store.ts'

export type BindingDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Vault
  telephony: Pick<Telephony, 'check'>
  endings: Pick<End, 'endOpenCalls'>
}

export type CallingAgent = { id: string; name: string }

export type Bindings = {
  show(agent: CallingAgent): Promise<CallBinding>
  /** Throws `validation_error` when the provider rejects the account, `upstream_error` when it is unreachable. */
  put(agent: CallingAgent, body: CallBindingBody): Promise<CallBinding>
  /** Ends open calls too. */
  remove(agent: CallingAgent): Promise<{ deleted: boolean; agent_name: string }>
  /** Throws `not_found` without a binding. */
  setEnabled(agent: CallingAgent, enabled: boolean): Promise<CallBinding>
}

/** Manages the telephone account of an agent. */
export function createBindings({ db, clock, vault, telephony, endings }: BindingDeps): Bindings {
  const now = () => timestamp(clock.now())

  async function show(agent: CallingAgent): Promise<CallBinding> {
    const [row, calls_today] = await Promise.all([
      bindingStore(db).find(agent.id),
      callStore(db).countSince(agent.id, dayStart(clock.now())),
    ])
    return {
      agent_name: agent.name,
      configured: row !== null,
      account_sid: row?.account_sid ?? null,
      from_number: row?.from_number ?? null,
      daily_call_cap: row?.daily_call_cap ?? null,
      display_name: row?.display_name ?? null,
      enabled: row?.enabled === 1,
      calls_today,
    }
  }

  async function check({ account_sid, auth_token, from_number }: CallBindingBody): Promise<void> {
    const account = { accountSid: account_sid, authToken: secret(auth_token) }
    const verdict = await telephony.check(account, from_number).catch((error: unknown) => {
      if (!(error instanceof TelephonyDown)) throw error
      throw new Fault('upstream_error', error.message, {}, { cause: error })
    })
    if (verdict === 'bad_credentials') {
      throw invalidField(['auth_token'], 'the provider does not know this account with this token')
    }
    if (verdict === 'foreign_number') {
      throw invalidField(['from_number'], 'is not a number that this account may call from')
    }
  }

  return {
    show,
    async put(agent, body) {
      await check(body)
      await db.atomically(async (tx) => {
        if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
        await bindingStore(tx).put({
          agent_id: agent.id,
          account_sid: body.account_sid,
          auth_token: sealToken(vault, agent.id, body.auth_token),
          from_number: body.from_number,
          daily_call_cap: body.daily_call_cap,
          display_name: body.display_name,
          enabled: 1,
          updated_at: now(),
        })
      })
      return show(agent)
    },
    async remove(agent) {
      const deleted = await db.atomically(async (tx) => {
        // The lock keeps new calls from using the account meanwhile.
        if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
        await endings.endOpenCalls(tx, agent.id, 'unbound')
        return bindingStore(tx).remove(agent.id)
      })
      return { deleted, agent_name: agent.name }
    },
    async setEnabled(agent, enabled) {
      if (!(await bindingStore(db).setEnabled(agent.id, enabled, now()))) throw accountMissing()
      return show(agent)
    },
  }
}

export function accountMissing(): Fault {
  return new Fault('not_found', 'This agent has no account to call with.')
}
