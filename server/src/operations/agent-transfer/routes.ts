import { exportAgent, importAgent } from '@roost/contracts/operations/agent-transfer'
import { type AgentRecords, requireAgent } from '../../agents/records/index.ts'
import { agentRoute, type Route, signedInRoute, streamAnswer } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import { passphraseOf } from './passphrase.ts'
import type { AgentTransfer } from './service.ts'
import type { Bytes } from './tar-stream.ts'

const header = 'X-Archive-Passphrase'

export function agentTransferRoutes(
  transfer: AgentTransfer,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  return [
    agentRoute(exportAgent, async ({ agent, caller, query, request }) => {
      const passphrase = passphraseOf(request.header(header))
      const withCredentials = query.credentials
      request.note({ credentials: withCredentials, encrypted: passphrase !== null })
      if (withCredentials && passphrase === null) throw passphraseRequired()
      const found = await requireAgent(agentRecords, agent.id)
      const { signal } = request
      const archive = await transfer.open(found, caller, { withCredentials, passphrase, signal })
      const file = `${archive.name}.roost.tar${archive.isEncrypted ? '.age' : ''}`
      const type = archive.isEncrypted ? 'application/octet-stream' : 'application/x-tar'
      const headers = { 'content-disposition': `attachment; filename="${file}"` }
      return streamAnswer(type, archive.bytes, { headers })
    }),

    signedInRoute(importAgent, async ({ caller, query, body, request }) => {
      const { name, trust, enable_schedules: enableSchedules } = query
      request.note({ agent: name ?? null, trust, enable_schedules: enableSchedules })
      const passphrase = passphraseOf(request.header(header))
      // The framework passes the body as it arrives.
      const upload = { source: body as Bytes, passphrase, signal: request.signal }
      const imported = await transfer.import(caller, { name, trust, enableSchedules }, upload)
      request.note({ agent: imported.name })
      return imported
    }),
  ]
}

function passphraseRequired(): Fault {
  const msg = 'is required with credentials'
  const issue = { loc: ['header', header], msg, type: 'value_error' }
  return new Fault('validation_error', undefined, { issues: [issue] })
}
