import {
  exportCredentials,
  getCredentialRequirements,
  getCredentialsStatus,
  getSuppressedVariables,
  importCredentials,
  injectCredentials,
} from '@roost/contracts/agents/credentials'
import { suppressedVariables } from '@roost/contracts/link/credentials'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { Credentials } from './service.ts'

export function credentialRoutes(
  credentials: Credentials,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    signedInRoute(getSuppressedVariables, async () => ({ suppressed_env_keys: [...suppressedVariables] })),
    agentRoute(getCredentialsStatus, async (call) =>
      credentials.status(await agentOf(call), call.request.signal),
    ),
    agentRoute(injectCredentials, async (call) => {
      const files_written = await credentials.inject(await agentOf(call), call.body, call.request.signal)
      call.request.note({ files: files_written })
      const message = `${files_written.length} credential files written.`
      return { status: 'success' as const, files_written, message }
    }),
    agentRoute(exportCredentials, async (call) => {
      const files_exported = await credentials.exportBundle(await agentOf(call), call.request.signal)
      call.request.note({ files_exported })
      return { status: 'success' as const, encrypted_file: '.credentials.enc' as const, files_exported }
    }),
    agentRoute(importCredentials, async (call) => {
      const files_imported = await credentials.importBundle(await agentOf(call), call.request.signal)
      call.request.note({ files: files_imported })
      const message = `${files_imported.length} credential files imported.`
      return { status: 'success' as const, files_imported, message }
    }),
    agentRoute(getCredentialRequirements, async (call) =>
      credentials.requirements(await agentOf(call), call.request.signal),
    ),
  ]
}
